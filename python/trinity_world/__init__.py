"""Worlds of the user's Python, served to Trinity by a worker process; see docs/python-environments.md."""
