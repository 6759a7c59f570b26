-- What was deleted: the fold finds it again in the log, and must not bring it back. Its number among
-- those of the same words stays its own, so that the next one gets another.
CREATE TABLE dropped (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    session TEXT NOT NULL,
    likeness TEXT NOT NULL,
    source TEXT,
    posted BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL
);
CREATE INDEX dropped_by_session ON dropped (session);
