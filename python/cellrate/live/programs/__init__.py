"""Programs of the package that run on hosts, each a file of its own that imports nothing else of it."""
