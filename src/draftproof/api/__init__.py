"""API: settings -> generated text: what a Python program and the command line share. Imports `economics` and above."""
