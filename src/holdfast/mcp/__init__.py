"""The MCP server: lookups, notes and messages as tools for agents."""
