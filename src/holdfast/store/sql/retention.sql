-- The snapshots that a restore may use stay: the newest and the richest of each session, and those
-- that belong to a compaction.
-- name: count_snapshots
SELECT count(*) AS n, CAST(coalesce(sum(length(state)), 0) AS BIGINT) AS bytes
FROM snapshots AS old WHERE created_at < :before
AND NOT EXISTS (SELECT 1 FROM compactions WHERE compactions.snapshot = old.id)
AND EXISTS (SELECT 1 FROM snapshots AS newer WHERE newer.session = old.session
    AND (newer.created_at, newer.id) > (old.created_at, old.id))
AND EXISTS (SELECT 1 FROM snapshots AS richer WHERE richer.session = old.session
    AND (richer.richness, richer.created_at, richer.id) > (old.richness, old.created_at, old.id));

-- name: old_snapshots
SELECT id FROM snapshots AS old WHERE created_at < :before
AND NOT EXISTS (SELECT 1 FROM compactions WHERE compactions.snapshot = old.id)
AND EXISTS (SELECT 1 FROM snapshots AS newer WHERE newer.session = old.session
    AND (newer.created_at, newer.id) > (old.created_at, old.id))
AND EXISTS (SELECT 1 FROM snapshots AS richer WHERE richer.session = old.session
    AND (richer.richness, richer.created_at, richer.id) > (old.richness, old.created_at, old.id));

-- name: drop_snapshots
DELETE FROM snapshots WHERE id IN (
SELECT id FROM snapshots AS old WHERE created_at < :before
AND NOT EXISTS (SELECT 1 FROM compactions WHERE compactions.snapshot = old.id)
AND EXISTS (SELECT 1 FROM snapshots AS newer WHERE newer.session = old.session
    AND (newer.created_at, newer.id) > (old.created_at, old.id))
AND EXISTS (SELECT 1 FROM snapshots AS richer WHERE richer.session = old.session
    AND (richer.richness, richer.created_at, richer.id) > (old.richness, old.created_at, old.id))
);

-- A brief shows the last :shown handoffs of a session: these stay, whatever their age.
-- name: count_handoffs
SELECT count(*) AS n, CAST(coalesce(sum(length(raw) + length(content)), 0) AS BIGINT) AS bytes
FROM handoffs AS old WHERE captured_at < :before
AND (SELECT count(*) FROM handoffs AS newer WHERE newer.session = old.session
    AND (newer.captured_at, newer.id) > (old.captured_at, old.id)) >= :shown;

-- name: drop_handoffs
DELETE FROM handoffs WHERE id IN (
SELECT id FROM handoffs AS old WHERE captured_at < :before
AND (SELECT count(*) FROM handoffs AS newer WHERE newer.session = old.session
    AND (newer.captured_at, newer.id) > (old.captured_at, old.id)) >= :shown
);

-- The indexed texts of sessions without new text since :before. The row of the session stays with
-- its position, so that the texts are not sent again.
-- name: count_texts
SELECT CAST(coalesce(sum(documents), 0) AS BIGINT) AS n, CAST(coalesce(sum((
    -- The stored size: words may be compressed, and are not read for this.
    SELECT sum(length(text) + pg_column_size(words) + length(tool)) FROM recall_documents
    WHERE id BETWEEN number << 31 AND (number << 31) + 2147483647
)), 0) AS BIGINT) AS bytes
FROM recall_sessions WHERE last_at < :before AND documents > 0;

-- name: drop_texts
WITH old AS (
    UPDATE recall_sessions SET documents = 0 WHERE last_at < :before AND documents > 0 RETURNING number
)
DELETE FROM recall_documents USING old
WHERE id BETWEEN old.number << 31 AND (old.number << 31) + 2147483647;

-- name: count_messages
SELECT count(*) AS n, CAST(coalesce(sum(length(payload)), 0) AS BIGINT) AS bytes
FROM messages WHERE expires_at < :before;

-- name: drop_messages
DELETE FROM messages WHERE expires_at < :before;

-- A read receipt is deleted with its message. A receipt without a message may have arrived before
-- it, so it is deleted only when it is old.
-- name: count_receipts
SELECT count(*) AS n,
    CAST(coalesce(sum(length(id) + length(message) + length(agent_id)), 0) AS BIGINT) AS bytes
FROM message_reads
WHERE EXISTS (SELECT 1 FROM messages WHERE messages.id = message_reads.message
    AND messages.expires_at < :before)
OR (updated_at < :before AND NOT EXISTS (
    SELECT 1 FROM messages WHERE messages.id = message_reads.message));

-- name: drop_receipts
DELETE FROM message_reads
WHERE EXISTS (SELECT 1 FROM messages WHERE messages.id = message_reads.message
    AND messages.expires_at < :before)
OR (updated_at < :before AND NOT EXISTS (
    SELECT 1 FROM messages WHERE messages.id = message_reads.message));

-- name: count_agents
SELECT count(*) AS n,
    CAST(coalesce(sum(length(id) + length(agent_id) + length(session)), 0) AS BIGINT) AS bytes
FROM agents WHERE updated_at < :before;

-- name: drop_agents
DELETE FROM agents WHERE updated_at < :before;

-- The newest change stays, so that sequence numbers continue from it. Changes that were not sent to
-- every target yet stay too.
-- name: count_changes
SELECT count(*) AS n,
    CAST(coalesce(sum(length(id) + length(kind) + length(record)), 0) AS BIGINT) AS bytes
FROM changes WHERE at < :before AND seq < (SELECT max(seq) FROM changes)
AND seq <= coalesce((SELECT min(seq) FROM sent), (SELECT max(seq) FROM changes));

-- name: last_old_change
SELECT seq, CAST(CAST(tx AS TEXT) AS BIGINT) AS tx
FROM changes WHERE at < :before AND seq < (SELECT max(seq) FROM changes)
AND seq <= coalesce((SELECT min(seq) FROM sent), (SELECT max(seq) FROM changes))
ORDER BY tx DESC, seq DESC LIMIT 1;

-- name: drop_changes
DELETE FROM changes WHERE at < :before AND seq < (SELECT max(seq) FROM changes)
AND seq <= coalesce((SELECT min(seq) FROM sent), (SELECT max(seq) FROM changes));
