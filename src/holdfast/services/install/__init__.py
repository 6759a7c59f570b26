"""Register hooks and MCP servers with a host, and remove them without a trace."""
