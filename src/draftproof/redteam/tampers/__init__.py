"""Tampers, one file a family; `catalogue.py` lists them all. The contract is in `redteam/base.py`."""
