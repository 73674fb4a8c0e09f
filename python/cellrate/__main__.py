"""`python -m cellrate`, the same as the command."""

from .cli import main

main()
