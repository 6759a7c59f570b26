"""The ledger over HTTP: for orchestrators, for other agents, and for the browser."""
