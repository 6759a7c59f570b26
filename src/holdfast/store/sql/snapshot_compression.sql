-- name: sessions
SELECT DISTINCT session FROM snapshots WHERE created_at < :before ORDER BY session;

-- name: snapshots
SELECT id, created_at, richness, state FROM snapshots WHERE session = :session
ORDER BY created_at, id;

-- The snapshots of compactions, latest first, because later ones have more in common with the
-- others. Without the last compaction: its row may still get another snapshot.
-- name: bases
SELECT snapshot FROM compactions WHERE session = :session AND snapshot IS NOT NULL
AND ordinal < (SELECT max(ordinal) FROM compactions WHERE session = :session)
ORDER BY ordinal DESC;

-- name: update_state
UPDATE snapshots SET state = :state WHERE id = :id;

-- name: state
SELECT state FROM snapshots WHERE id = :id;
