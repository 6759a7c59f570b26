"""The use cases that hooks, command line, MCP server and HTTP server share."""
