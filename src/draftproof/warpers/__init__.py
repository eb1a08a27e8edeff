"""Warpers: model rows -> laws, pure functions of a row and the text before it. Imports `rules` and the words only.

One kind a file; `pipeline.py` puts them in order. The contract is in `base.py`.
"""
