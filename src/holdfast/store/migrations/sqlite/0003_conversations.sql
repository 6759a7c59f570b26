-- The conversation of a home-made agent: one for each session and feature.
CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    feature TEXT NOT NULL,
    agent_description TEXT NOT NULL,
    project_context TEXT NOT NULL,
    -- Every message ever added, and of those that are not in a checkpoint yet how many and how
    -- much: a preview of the next request must not read them all.
    messages INTEGER NOT NULL,
    live_messages INTEGER NOT NULL,
    live_tokens INTEGER NOT NULL,
    -- The newest checkpoint; 0 if there is none.
    version INTEGER NOT NULL,
    -- Until when somebody is making the next one.
    lease TEXT NOT NULL,
    leased_until REAL NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    archived_at REAL,
    UNIQUE (session, feature)
);

-- What was said stays, word for word; a compaction only notes in which checkpoint it went.
CREATE TABLE conversation_messages (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    added_at REAL NOT NULL,
    compacted_in INTEGER,
    PRIMARY KEY (conversation, ordinal)
);
CREATE INDEX conversation_messages_live ON conversation_messages (conversation, ordinal)
    WHERE compacted_in IS NULL;

CREATE TABLE conversation_checkpoints (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    content TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    made_by TEXT NOT NULL,
    messages INTEGER NOT NULL,
    tokens_before INTEGER NOT NULL,
    tokens_reclaimed INTEGER NOT NULL,
    made_at REAL NOT NULL,
    PRIMARY KEY (conversation, version)
) WITHOUT ROWID;

-- What summaries cost, in millionths of a dollar: set aside before a call, settled after it.
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
