"""somebody's engine -> what can be said of it, from its tokens alone: `runner.py` is the whole audit on a page."""
