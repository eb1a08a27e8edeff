"""`python -m draftproof`: the same as the command `draftproof`."""

from draftproof.cli.app import main

main()
