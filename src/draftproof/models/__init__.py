"""Models: context -> scores of the next token, with rewind. Imports `rules`, `warpers` and the words only.

One backend a file, the file named as a user types it (`tiny:target`). The contract is in `base.py`.
"""
