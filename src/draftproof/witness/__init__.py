"""Witness (blue team): rule | engine | trace -> Finding. Imports `engine` and the rooms above; knows of no tamper."""
