"""Models of transformers. See `backend.py`."""
