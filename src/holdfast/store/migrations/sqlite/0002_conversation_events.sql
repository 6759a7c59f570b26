-- The window and the thresholds, in tokens, with which an agent uses a conversation. A table of its
-- own: a column that is added later is missing in older rows, which salvage.py would not recognise.
CREATE TABLE conversation_budgets (
    conversation TEXT NOT NULL PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    limit_tokens INTEGER NOT NULL,
    trigger_tokens INTEGER NOT NULL,
    warning_tokens INTEGER NOT NULL
) WITHOUT ROWID;

-- An event of a conversation, such as the start of a compaction, for other processes to see.
CREATE TABLE conversation_events (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL,
    happened_at REAL NOT NULL,
    PRIMARY KEY (conversation, ordinal)
) WITHOUT ROWID;

-- Pages of all conversations.
CREATE INDEX conversations_by_time ON conversations (updated_at, id);
-- The costs of a conversation.
CREATE INDEX spend_by_conversation ON spend (session, feature);
