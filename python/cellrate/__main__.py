"""`python -m cellrate`, the same as the command."""

from .command_line.main import main

main()
