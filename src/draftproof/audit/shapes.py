"""What the known faults are, in words for somebody who has to find one. In: nothing. Out: a sentence a fault."""

__all__ = ["MEANING"]

MEANING = {
    "resid_p": "a rejected token is replaced by a draw from the target's law instead of the residual",
    "resid_q": "a rejected token is replaced by a draw from the draft's law",
    "draft_leak": "drafts are kept that were not tested, or that failed",
    "over_corr": "too few drafts are kept, or the residual is taken twice",
    "lenient": "drafts are kept more often than p / q allows",
    "greedy": "the most probable token is taken too often",
    "anti_greedy": "the most probable token is taken too seldom",
    "colder": "a lower temperature than asked",
    "hotter": "a higher temperature than asked",
    "truncated": "improbable tokens are cut off",
    "tail": "improbable tokens come too often",
    "garbage": "tokens come that have nothing to do with the law",
    "repeat_rej": "rejected tokens come back",
    "row_lag": "tokens are drawn from the law of the place before",
}
"""By the names of `witness/experts.py`."""
