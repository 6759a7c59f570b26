"""Sessions, snapshots and compactions in SQLite or PostgreSQL, behind one protocol."""
