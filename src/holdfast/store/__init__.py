"""Where it stays: one contract, SQLite by default."""
