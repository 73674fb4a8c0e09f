"""Folders and files: which may be replaced, and how they appear whole, are locked, and are removed once left behind."""
