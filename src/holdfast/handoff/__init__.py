"""Handoffs of sub-agents: typed, parsed tolerantly, and never more than 500 tokens.

Pure. `shorten` and `parser` are also used by a hook.
"""
