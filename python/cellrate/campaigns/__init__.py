"""Campaigns: sweeps whose points are kept one by one, gone on with, shared between processes, and read as one table."""
