"""Drafters: context -> law of the next token. They never draw; the engine does. Imports `models` and above.

One drafter a file, the file named as a user types it. The contract is in `base.py`.
"""
