"""The command `cellrate`."""
