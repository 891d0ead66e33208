"""The workers of Trinity's torch engine. Started by Trinity, one process for each device; see docs/torch-engine.md."""

__version__ = "0.1.0"

PROTOCOL = 1
