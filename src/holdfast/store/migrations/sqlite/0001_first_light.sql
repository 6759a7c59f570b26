-- A host session: how far its transcript was read, and the state folded so far.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    project TEXT NOT NULL,
    transcript TEXT NOT NULL,
    cursor TEXT NOT NULL,
    state TEXT NOT NULL,
    -- Goes up with each save, so that of two processes folding at once one wins and one retries.
    revision INTEGER NOT NULL,
    -- How many lines there were when Holdfast first saw the session.
    first_line INTEGER NOT NULL,
    started_at REAL NOT NULL,
    seen_at REAL NOT NULL,
    ended_at REAL
);
CREATE INDEX sessions_by_project ON sessions (project, seen_at);

-- Immutable saved states.
CREATE TABLE snapshots (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    created_at REAL NOT NULL,
    line INTEGER NOT NULL,
    richness INTEGER NOT NULL,
    context INTEGER NOT NULL,
    state BLOB NOT NULL
);
CREATE INDEX snapshots_by_session ON snapshots (session, created_at);

-- One compaction of one session: what was saved before, what the host made of it, what we sent.
CREATE TABLE compactions (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    trigger_name TEXT,
    opened_at REAL NOT NULL,
    snapshot TEXT REFERENCES snapshots (id),
    summary TEXT,
    brief_id TEXT,
    brief TEXT,
    brief_at REAL,
    brief_line INTEGER,
    delivered_by TEXT,
    receipt TEXT NOT NULL DEFAULT 'pending',
    receipt_line INTEGER,
    PRIMARY KEY (session, ordinal)
);

-- The last firing of each hook, for `doctor`.
CREATE TABLE hooks_seen (
    host TEXT NOT NULL,
    event TEXT NOT NULL,
    times INTEGER NOT NULL,
    last_at REAL NOT NULL,
    last_milliseconds REAL NOT NULL,
    last_session TEXT NOT NULL,
    PRIMARY KEY (host, event)
);
