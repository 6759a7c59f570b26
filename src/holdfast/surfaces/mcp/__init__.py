"""For agents: the same lookups as tools, over the Model Context Protocol."""
