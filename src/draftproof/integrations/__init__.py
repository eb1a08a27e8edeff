"""Other people's workflows, sped up where they stand. One module a library; nothing here is imported by the rest."""
