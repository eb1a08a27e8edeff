"""Red team: tamper x witness -> scorecard. Imports `witness` and the rooms above; no other room has heard of it."""
