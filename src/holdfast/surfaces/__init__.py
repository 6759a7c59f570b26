"""How it is reached: hooks, command line."""
