"""Rules: proposal + target rows -> verdict. Pure array code; imports nothing of this package but its words.

One rule a file, the file named as a user types it. The contract is in `base.py`.
"""
