-- What hooks and people add to a session that its transcript does not hold: commands started or
-- stopped by hand, what the guardian has done since the last compaction. One JSON value per name.
CREATE TABLE marks (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (session, name)
);
