"""Whole worlds to look at, carried by the wheel: see ``agentrt_examples.colony``."""
