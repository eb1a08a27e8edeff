"""Models of llama.cpp. See `backend.py`."""
