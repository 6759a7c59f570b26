-- What a sub-agent handed on when it stopped, and all that it said.
CREATE TABLE handoffs (
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    agent TEXT NOT NULL,
    agent_type TEXT NOT NULL,
    task TEXT NOT NULL,
    line BIGINT NOT NULL,
    status TEXT NOT NULL,
    decision TEXT NOT NULL,
    -- Summary, files, issues and problems, as JSON.
    content TEXT NOT NULL,
    raw BYTEA NOT NULL,
    tokens_before BIGINT NOT NULL,
    tokens_after BIGINT NOT NULL,
    captured_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (session, agent)
);
