-- A host session: how far its transcript was read, and the state folded so far.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    project TEXT NOT NULL,
    transcript TEXT NOT NULL,
    cursor TEXT NOT NULL,
    state TEXT NOT NULL,
    -- Goes up with each save, so that of two processes folding at once one wins and one retries.
    revision BIGINT NOT NULL,
    -- How many lines there were when Holdfast first saw the session.
    first_line BIGINT NOT NULL,
    started_at DOUBLE PRECISION NOT NULL,
    seen_at DOUBLE PRECISION NOT NULL,
    ended_at DOUBLE PRECISION
);
CREATE INDEX sessions_by_project ON sessions (project, seen_at);

-- Immutable saved states.
CREATE TABLE snapshots (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    line BIGINT NOT NULL,
    richness BIGINT NOT NULL,
    context BIGINT NOT NULL,
    state BYTEA NOT NULL
);
CREATE INDEX snapshots_by_session ON snapshots (session, created_at);

-- One compaction of one session: what was saved before, what the host made of it, what we sent.
CREATE TABLE compactions (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    ordinal BIGINT NOT NULL,
    trigger_name TEXT,
    opened_at DOUBLE PRECISION NOT NULL,
    snapshot TEXT REFERENCES snapshots (id),
    summary TEXT,
    brief_id TEXT,
    brief TEXT,
    brief_at DOUBLE PRECISION,
    brief_line BIGINT,
    delivered_by TEXT,
    receipt TEXT NOT NULL DEFAULT 'pending',
    receipt_line BIGINT,
    PRIMARY KEY (session, ordinal)
);

-- The last firing of each hook, for `doctor`.
CREATE TABLE hooks_seen (
    host TEXT NOT NULL,
    event TEXT NOT NULL,
    times BIGINT NOT NULL,
    last_at DOUBLE PRECISION NOT NULL,
    last_milliseconds DOUBLE PRECISION NOT NULL,
    last_session TEXT NOT NULL,
    PRIMARY KEY (host, event)
);
