"""The verbs that every surface calls."""
