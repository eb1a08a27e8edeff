"""Explorer: the page on which a person sees and tries it all. NiceGUI lives here and nowhere else."""
