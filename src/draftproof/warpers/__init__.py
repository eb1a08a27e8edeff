"""Warpers: model rows -> laws. Temperature acts on scores; filters act on laws. Imports `rules` and the words only.

One warper a file; `pipeline.py` puts them in order. The contract is in `base.py`.
"""
