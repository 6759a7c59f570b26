-- name: sessions
SELECT id, seen_at, ended_at FROM sessions ORDER BY seen_at;

-- name: session
SELECT * FROM sessions WHERE id = :id;

-- name: snapshot_ids
SELECT id FROM snapshots WHERE session = :id ORDER BY created_at, id;

-- name: snapshot
SELECT * FROM snapshots WHERE id = :id;

-- name: snapshot_owner
SELECT session FROM snapshots WHERE id = :id;

-- name: compactions
SELECT * FROM compactions WHERE session = :id ORDER BY ordinal;

-- name: put_session
INSERT INTO sessions
    (id, host, project, transcript, cursor, state, revision, first_line, started_at, seen_at,
     ended_at)
VALUES (:id, :host, :project, :transcript, :cursor, :state, :revision, :first_line, :started_at,
    :seen_at, :ended_at)
-- A session lives on one machine, so whatever was seen later is what it is.
ON CONFLICT (id) DO UPDATE
SET transcript = excluded.transcript, cursor = excluded.cursor, state = excluded.state,
    revision = sessions.revision + 1, seen_at = excluded.seen_at, ended_at = excluded.ended_at
WHERE excluded.seen_at >= sessions.seen_at;

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
    summary = excluded.summary, brief_id = excluded.brief_id, brief = excluded.brief,
    brief_at = excluded.brief_at, brief_line = excluded.brief_line,
    delivered_by = excluded.delivered_by, receipt = excluded.receipt,
    receipt_line = excluded.receipt_line;
