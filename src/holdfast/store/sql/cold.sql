-- name: sessions
SELECT DISTINCT session FROM snapshots WHERE created_at < :before ORDER BY session;

-- name: snapshots
SELECT id, created_at, richness, state FROM snapshots WHERE session = :session
ORDER BY created_at, id;

-- The first compaction's, and never the last one's: that row may yet be taken over by another.
-- name: base
SELECT snapshot FROM compactions WHERE session = :session AND snapshot IS NOT NULL
AND ordinal < (SELECT max(ordinal) FROM compactions WHERE session = :session)
ORDER BY ordinal LIMIT 1;

-- name: put
UPDATE snapshots SET state = :state WHERE id = :id;

-- name: state
SELECT state FROM snapshots WHERE id = :id;
