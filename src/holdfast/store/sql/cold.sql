-- name: sessions
SELECT DISTINCT session FROM snapshots WHERE created_at < :before ORDER BY session;

-- name: snapshots
SELECT id, created_at, richness, state FROM snapshots WHERE session = :session
ORDER BY created_at, id;

-- Later ones hold more of what all have in common. Never the last compaction's: that row may yet
-- be taken over by another.
-- name: bases
SELECT snapshot FROM compactions WHERE session = :session AND snapshot IS NOT NULL
AND ordinal < (SELECT max(ordinal) FROM compactions WHERE session = :session)
ORDER BY ordinal DESC;

-- name: put
UPDATE snapshots SET state = :state WHERE id = :id;

-- name: state
SELECT state FROM snapshots WHERE id = :id;
