-- name: session
SELECT * FROM sessions WHERE id = ?;

-- name: sessions_of
SELECT * FROM sessions WHERE project = :project AND (seen_at, id) < (:at, :id)
ORDER BY seen_at DESC, id DESC LIMIT :limit;

-- name: all_sessions
SELECT * FROM sessions WHERE (seen_at, id) < (:at, :id)
ORDER BY seen_at DESC, id DESC LIMIT :limit;

-- name: transcripts
SELECT id, host, project, transcript, seen_at, ended_at FROM sessions
WHERE CAST(:project AS TEXT) IS NULL OR project = :project
ORDER BY seen_at DESC;

-- name: add_session
INSERT INTO sessions
    (id, host, project, transcript, cursor, state, revision, first_line, started_at, seen_at)
VALUES (:id, :host, :project, :transcript, :cursor, :state, 1, :first_line, :now, :now)
ON CONFLICT (id) DO NOTHING;

-- name: save_session
UPDATE sessions
SET transcript = :transcript, cursor = :cursor, state = :state, revision = revision + 1,
    seen_at = :now
WHERE id = :id AND revision = :revision;

-- name: replace_session
UPDATE sessions
SET host = :host, project = :project, transcript = :transcript, cursor = :cursor, state = :state,
    revision = revision + 1, first_line = :first_line, seen_at = :now
WHERE id = :id AND revision = :revision;

-- name: end_session
UPDATE sessions SET ended_at = :now WHERE id = :id;

-- name: reopen_session
UPDATE sessions SET ended_at = NULL WHERE id = :id AND ended_at IS NOT NULL;

-- name: add_snapshot
INSERT INTO snapshots (id, session, reason, created_at, line, richness, context, state)
VALUES (:id, :session, :reason, :now, :line, :richness, :context, :state);

-- name: snapshot
SELECT * FROM snapshots WHERE id = ?;

-- name: snapshots_of
SELECT * FROM snapshots WHERE session = ? ORDER BY created_at DESC, id LIMIT ?;

-- name: snapshots_before
SELECT snapshots.*, (SELECT project FROM sessions WHERE sessions.id = session) AS folder
FROM snapshots WHERE id IN (
    SELECT id FROM snapshots
    WHERE (CAST(:session AS TEXT) IS NULL OR session = :session)
        AND (CAST(:folder AS TEXT) IS NULL
            OR session IN (SELECT id FROM sessions WHERE project = :folder))
        AND (created_at, id) < (:at, :id)
    ORDER BY created_at DESC, id DESC LIMIT :limit
) ORDER BY created_at DESC, id DESC;

-- name: richest_snapshot
SELECT * FROM snapshots WHERE session = ? ORDER BY richness DESC, created_at DESC LIMIT 1 OFFSET ?;

-- name: prune_snapshots
DELETE FROM snapshots
WHERE session = :session AND reason LIKE 'threshold%'
    AND id NOT IN (
        SELECT id FROM snapshots WHERE session = :session AND reason LIKE 'threshold%'
        ORDER BY created_at DESC, id LIMIT :limit
    )
    AND id NOT IN (
        SELECT id FROM snapshots WHERE session = :session
        ORDER BY richness DESC, created_at DESC LIMIT 1
    )
    AND id NOT IN (SELECT snapshot FROM compactions WHERE snapshot IS NOT NULL);

-- name: shorten_compactions
UPDATE compactions SET summary = NULL, brief = NULL
WHERE session = :session AND (summary IS NOT NULL OR brief IS NOT NULL)
    AND ordinal <= (SELECT max(ordinal) FROM compactions WHERE session = :session) - :limit;

-- name: compaction
SELECT * FROM compactions WHERE session = ? AND ordinal = ?;

-- name: compactions_of
SELECT * FROM compactions WHERE session = ? ORDER BY ordinal;

-- name: open_compaction
INSERT INTO compactions (session, ordinal, trigger_name, opened_at, snapshot)
VALUES (:session, :ordinal, :trigger_name, :now, :snapshot)
-- A compaction that was announced but did not happen left an open row. The next compaction reuses
-- the row; the summary in it belongs to the other one and is removed.
ON CONFLICT (session, ordinal) DO UPDATE
SET trigger_name = coalesce(excluded.trigger_name, compactions.trigger_name),
    summary = CASE WHEN excluded.snapshot IS NULL THEN compactions.summary END,
    snapshot = coalesce(excluded.snapshot, compactions.snapshot);

-- name: note_summary
UPDATE compactions SET summary = :summary WHERE session = :session AND ordinal = :ordinal;

-- name: note_brief
UPDATE compactions
SET brief_id = :brief_id, brief = :brief, brief_at = :now, brief_line = :line,
    delivered_by = :delivered_by, receipt = 'pending', receipt_line = NULL
WHERE session = :session AND ordinal = :ordinal;

-- name: note_receipt
UPDATE compactions SET receipt = :receipt, receipt_line = :line
WHERE session = :session AND ordinal = :ordinal;

-- name: last_save_and_receipt
SELECT
    (SELECT max(created_at) FROM snapshots WHERE session = :session) AS saved_at,
    (SELECT receipt FROM compactions WHERE session = :session AND brief_id IS NOT NULL
     ORDER BY ordinal DESC LIMIT 1) AS receipt;

-- name: record_hook
INSERT INTO hooks_seen (host, event, times, last_at, last_milliseconds, last_session)
VALUES (:host, :event, 1, :now, :milliseconds, :session)
ON CONFLICT (host, event) DO UPDATE
SET times = hooks_seen.times + 1, last_at = excluded.last_at,
    last_milliseconds = excluded.last_milliseconds, last_session = excluded.last_session;

-- name: hook_runs
SELECT * FROM hooks_seen ORDER BY last_at DESC;

-- name: mark
SELECT value FROM marks WHERE session = ? AND name = ?;

-- name: set_mark
INSERT INTO marks (session, name, value) VALUES (:session, :name, :value)
ON CONFLICT (session, name) DO UPDATE SET value = excluded.value;

-- name: add_handoff
INSERT INTO handoffs
    (id, session, agent, agent_type, task, line, status, decision, content, raw, tokens_before,
     tokens_after, captured_at)
VALUES (:id, :session, :agent, :agent_type, :task, :line, :status, :decision, :content, :raw,
        :tokens_before, :tokens_after, :now)
-- A sub-agent that is resumed stops again: its last message counts.
ON CONFLICT (session, agent) DO UPDATE
SET line = excluded.line, status = excluded.status, decision = excluded.decision,
    content = excluded.content, raw = excluded.raw, tokens_before = excluded.tokens_before,
    tokens_after = excluded.tokens_after, captured_at = excluded.captured_at;

-- name: handoff
SELECT * FROM handoffs WHERE id = ?;

-- name: handoffs_of
SELECT * FROM handoffs WHERE session = ? ORDER BY captured_at DESC, id LIMIT ?;
