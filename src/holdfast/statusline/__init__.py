"""The status line: how full the context window is."""
