"""The HTTP API, for orchestrators, other agents and the browser."""
