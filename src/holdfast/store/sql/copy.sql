-- name: sessions
SELECT id, seen_at, ended_at FROM sessions ORDER BY seen_at;

-- name: all_snapshots
SELECT session, id FROM snapshots ORDER BY session, created_at, id;

-- name: all_compactions
-- Length and beginning are enough to notice that a summary has changed.
SELECT session, ordinal, trigger_name, opened_at, snapshot, length(summary) AS summary_length,
    substr(summary, 1, 200) AS summary_begins, brief_id, length(brief) AS brief_length, brief_at,
    brief_line, delivered_by, receipt, receipt_line
FROM compactions ORDER BY session, ordinal;

-- name: all_handoffs
SELECT session, id, captured_at FROM handoffs ORDER BY session, captured_at, id;

-- name: session
SELECT * FROM sessions WHERE id = :id;

-- name: snapshot_ids
SELECT id, line FROM snapshots WHERE session = :id ORDER BY created_at, id;

-- name: snapshot
SELECT * FROM snapshots WHERE id = :id;

-- name: newest_snapshot
SELECT max(line) AS line FROM snapshots WHERE session = :id;

-- name: snapshot_owner
SELECT session FROM snapshots WHERE id = :id;

-- name: compactions
SELECT * FROM compactions WHERE session = :id ORDER BY ordinal;

-- name: handoffs
SELECT * FROM handoffs WHERE session = :id ORDER BY captured_at, id;

-- name: handoff_owner
SELECT session FROM handoffs WHERE id = :id;

-- name: put_session
INSERT INTO sessions
    (id, host, project, transcript, cursor, state, revision, first_line, started_at, seen_at,
     ended_at)
VALUES (:id, :host, :project, :transcript, :cursor, :state, :revision, :first_line, :started_at,
    :seen_at, :ended_at)
-- A session is written by one machine only. The row that was seen later counts, or the one that has
-- read further in the transcript, in case the clock was set back.
ON CONFLICT (id) DO UPDATE
SET transcript = excluded.transcript, cursor = excluded.cursor, state = excluded.state,
    revision = sessions.revision + 1, seen_at = excluded.seen_at, ended_at = excluded.ended_at
WHERE excluded.seen_at >= sessions.seen_at OR :is_further = 1;

-- name: put_snapshot
INSERT INTO snapshots (id, session, reason, created_at, line, richness, context, state)
VALUES (:id, :session, :reason, :created_at, :line, :richness, :context, :state)
ON CONFLICT (id) DO NOTHING;

-- name: put_compaction
INSERT INTO compactions
    (session, ordinal, trigger_name, opened_at, snapshot, summary, brief_id, brief, brief_at,
     brief_line, delivered_by, receipt, receipt_line)
VALUES (:session, :ordinal, :trigger_name, :opened_at, :snapshot, :summary, :brief_id, :brief,
    :brief_at, :brief_line, :delivered_by, :receipt, :receipt_line)
ON CONFLICT (session, ordinal) DO UPDATE
SET trigger_name = excluded.trigger_name, snapshot = excluded.snapshot,
    -- The source machine deletes the texts of old compactions after a while; the target keeps them.
    summary = CASE
        WHEN coalesce(compactions.snapshot, '') = coalesce(excluded.snapshot, '')
            AND coalesce(compactions.brief_id, '') = coalesce(excluded.brief_id, '')
        THEN coalesce(excluded.summary, compactions.summary) ELSE excluded.summary END,
    brief = CASE
        WHEN compactions.brief_id = excluded.brief_id
        THEN coalesce(excluded.brief, compactions.brief) ELSE excluded.brief END,
    brief_id = excluded.brief_id, brief_at = excluded.brief_at, brief_line = excluded.brief_line,
    delivered_by = excluded.delivered_by, receipt = excluded.receipt,
    receipt_line = excluded.receipt_line;

-- name: put_handoff
INSERT INTO handoffs
    (id, session, agent, agent_type, task, line, status, decision, content, raw, tokens_before,
     tokens_after, captured_at)
VALUES (:id, :session, :agent, :agent_type, :task, :line, :status, :decision, :content, :raw,
        :tokens_before, :tokens_after, :captured_at)
ON CONFLICT (session, agent) DO UPDATE
SET agent_type = excluded.agent_type, task = excluded.task, line = excluded.line,
    status = excluded.status, decision = excluded.decision, content = excluded.content,
    raw = excluded.raw, tokens_before = excluded.tokens_before,
    tokens_after = excluded.tokens_after, captured_at = excluded.captured_at;
