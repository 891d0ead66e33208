"""Runs agents that are written in Python with AgentScope, many at once in one process."""
