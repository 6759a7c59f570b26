-- The store of one machine (holdfast.db): sessions, snapshots, compactions, conversations.
-- Times are seconds since 1970. The ledger has a file of its own, see ../sqlite_ledger.

-- A session of a coding agent: how far its transcript was read, and the state folded so far.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    -- The root path of the project.
    project TEXT NOT NULL,
    -- The path of the transcript, and the reader's position in it (JSON).
    transcript TEXT NOT NULL,
    cursor TEXT NOT NULL,
    -- The folded state, encoded by store/codec.py.
    state TEXT NOT NULL,
    -- Increases with each save. Of two processes that fold at the same time, the one that saves
    -- second finds another revision than it read, and folds again.
    revision INTEGER NOT NULL,
    -- Lines in the transcript when Holdfast first saw the session.
    first_line INTEGER NOT NULL,
    started_at REAL NOT NULL,
    seen_at REAL NOT NULL,
    ended_at REAL
);
-- The sessions of a project, latest first.
CREATE INDEX sessions_by_project ON sessions (project, seen_at);

-- A saved state of a session. Its content never changes; `holdfast gc` may compress it further.
CREATE TABLE snapshots (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    -- What caused it: manual, auto, threshold, stop, session-end or api.
    reason TEXT NOT NULL,
    created_at REAL NOT NULL,
    -- How many lines of the transcript it covers.
    line INTEGER NOT NULL,
    -- How complete the state is: a restore uses the richest snapshot.
    richness INTEGER NOT NULL,
    -- Tokens in the context window at that time.
    context INTEGER NOT NULL,
    -- The state, compressed.
    state BLOB NOT NULL
);
-- The snapshots of a session, latest first, and the time of the latest one.
CREATE INDEX snapshots_by_session ON snapshots (session, created_at);

-- A compaction of a session: the snapshot taken before it, the host's summary, and the brief that
-- was sent after it with its delivery receipt.
CREATE TABLE compactions (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    -- The number of the compaction within its session, from 1.
    ordinal INTEGER NOT NULL,
    trigger_name TEXT,
    opened_at REAL NOT NULL,
    snapshot TEXT REFERENCES snapshots (id),
    summary TEXT,
    brief_id TEXT,
    brief TEXT,
    brief_at REAL,
    -- How many lines the transcript had when the brief was sent.
    brief_line INTEGER,
    -- The hook that sent the brief.
    delivered_by TEXT,
    receipt TEXT NOT NULL DEFAULT 'pending',
    -- The line of the transcript that the receipt was read from.
    receipt_line INTEGER,
    PRIMARY KEY (session, ordinal)
);

-- The last run of one hook of one host, for `holdfast doctor`.
CREATE TABLE hooks_seen (
    host TEXT NOT NULL,
    event TEXT NOT NULL,
    times INTEGER NOT NULL,
    last_at REAL NOT NULL,
    last_milliseconds REAL NOT NULL,
    last_session TEXT NOT NULL,
    PRIMARY KEY (host, event)
);

-- A JSON value that hooks or users attach to a session and that its transcript does not contain:
-- commands started or stopped by hand, thresholds already passed since the last compaction.
CREATE TABLE marks (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (session, name)
) WITHOUT ROWID;

-- The result that a sub-agent returned when it stopped, shortened, with its full last message.
-- A sub-agent that is resumed and stops again replaces its row.
CREATE TABLE handoffs (
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    agent TEXT NOT NULL,
    agent_type TEXT NOT NULL,
    task TEXT NOT NULL,
    line INTEGER NOT NULL,
    status TEXT NOT NULL,
    decision TEXT NOT NULL,
    -- Summary, files, issues and problems (JSON).
    content TEXT NOT NULL,
    -- The full message, compressed.
    raw BLOB NOT NULL,
    tokens_before INTEGER NOT NULL,
    tokens_after INTEGER NOT NULL,
    captured_at REAL NOT NULL,
    PRIMARY KEY (session, agent)
);

-- A conversation of an agent built with SessionManager: one for each session and feature.
CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    feature TEXT NOT NULL,
    agent_description TEXT NOT NULL,
    project_context TEXT NOT NULL,
    -- The number of all messages; and the number and tokens of those that no checkpoint covers yet,
    -- kept here so that a preview of the next request need not read them.
    messages INTEGER NOT NULL,
    live_messages INTEGER NOT NULL,
    live_tokens INTEGER NOT NULL,
    -- The version of the newest checkpoint; 0 if there is none.
    version INTEGER NOT NULL,
    -- A random token of the process that is making the next checkpoint, and until when it may.
    lease TEXT NOT NULL,
    leased_until REAL NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    archived_at REAL,
    UNIQUE (session, feature)
);

-- A message of a conversation. Its text is never changed or deleted by a compaction.
CREATE TABLE conversation_messages (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    added_at REAL NOT NULL,
    -- The version of the checkpoint that covers the message.
    compacted_in INTEGER,
    PRIMARY KEY (conversation, ordinal)
);
-- The messages that go into the next request: those that no checkpoint covers.
CREATE INDEX conversation_messages_live ON conversation_messages (conversation, ordinal)
    WHERE compacted_in IS NULL;

-- A summary that stands for the older messages of a conversation.
CREATE TABLE conversation_checkpoints (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    content TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    -- The summarizer that made it.
    made_by TEXT NOT NULL,
    -- How many messages it covers.
    messages INTEGER NOT NULL,
    tokens_before INTEGER NOT NULL,
    tokens_reclaimed INTEGER NOT NULL,
    made_at REAL NOT NULL,
    PRIMARY KEY (conversation, version)
) WITHOUT ROWID;

-- The cost of one call to a summarizing model, in millionths of a dollar: the highest possible cost
-- is reserved before the call, the real cost replaces it afterwards.
CREATE TABLE spend (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    feature TEXT NOT NULL,
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    micros INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    spent_at REAL NOT NULL
) WITHOUT ROWID;
