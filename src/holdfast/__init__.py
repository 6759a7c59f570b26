"""Holdfast keeps a coding agent's working state through context compaction."""

__version__ = "0.1.0"
