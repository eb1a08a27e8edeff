"""A little Llama, as a Hugging Face folder, in the formats that engines read. Nothing here runs a model."""
