-- name: project
SELECT number FROM projects WHERE path = ?;

-- name: add_project
INSERT INTO projects (path) VALUES (?) ON CONFLICT (path) DO NOTHING;

-- name: transcript
SELECT * FROM transcripts WHERE session = ?;

-- name: transcripts
SELECT t.*, p.path AS project
FROM transcripts t JOIN projects p ON p.number = t.number >> 15
ORDER BY t.number;

-- name: latest_transcripts
SELECT number, documents FROM transcripts WHERE number BETWEEN ? AND ? ORDER BY number DESC;

-- name: last_number
SELECT max(number) AS number FROM transcripts WHERE number BETWEEN ? AND ?;

-- name: save_transcript
INSERT INTO transcripts
    (number, session, path, cursor, size, changed, calls, compaction, documents, indexed)
VALUES
    (:number, :session, :path, :cursor, :size, :changed, :calls, :compaction, :documents,
     :indexed)
ON CONFLICT (session) DO UPDATE
SET number = :number, path = :path, cursor = :cursor, size = :size, changed = :changed,
    calls = :calls, compaction = :compaction, documents = :documents, indexed = :indexed;

-- name: notes
SELECT n.* FROM notes n JOIN transcripts t ON t.number = n.number WHERE t.session = ?;

-- name: save_notes
INSERT INTO notes (number, path, size, changed) VALUES (:number, :path, :size, :changed)
ON CONFLICT (number) DO UPDATE SET path = :path, size = :size, changed = :changed;

-- name: delete_notes
DELETE FROM notes WHERE number = ?;

-- name: add_document
INSERT INTO documents (id, kind, tool, file, at, text, call, ok, aside)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_words
INSERT INTO words (rowid, text, also) VALUES (?, ?, ?);

-- name: delete_words
INSERT INTO words (words, rowid, text, also) VALUES ('delete', ?, ?, ?);

-- name: delete_transcript
DELETE FROM transcripts WHERE number = ?;

-- name: delete_documents
DELETE FROM documents WHERE id BETWEEN ? AND ?;

-- name: documents_between
SELECT * FROM documents WHERE id BETWEEN ? AND ? ORDER BY id;

-- name: match
SELECT rowid FROM words
WHERE words MATCH :match AND rowid BETWEEN :low AND :high
ORDER BY rowid DESC LIMIT :limit;

-- name: match_filtered
SELECT w.rowid
FROM words w CROSS JOIN documents d ON d.id = w.rowid
CROSS JOIN transcripts t ON t.number = w.rowid >> 31
WHERE words MATCH :match AND w.rowid BETWEEN :low AND :high
    AND (:kinds = '' OR instr(:kinds, ' ' || d.kind || ' '))
    AND (:tool = '' OR lower(d.tool) = lower(:tool))
    AND d.at >= :since
    AND (NOT :before OR (w.rowid >> 6 & 33554431) < t.compaction)
ORDER BY w.rowid DESC LIMIT :limit;

-- name: document_with_session
SELECT d.id, d.kind, d.tool, d.at, d.text, t.session, t.compaction
FROM documents d JOIN transcripts t ON t.number = d.id >> 31
WHERE d.id = ?;

-- name: latest_documents
SELECT d.id, d.text
FROM documents d JOIN transcripts t ON t.number = d.id >> 31
WHERE d.id BETWEEN :low AND :high
    AND (:kinds = '' OR instr(:kinds, ' ' || d.kind || ' '))
    AND (:tool = '' OR lower(d.tool) = lower(:tool))
    AND d.at >= :since
    AND (NOT :before OR (d.id >> 6 & 33554431) < t.compaction)
ORDER BY d.id DESC LIMIT :limit;

-- name: first_document
SELECT id FROM documents WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1;

-- name: documents_after
SELECT * FROM documents WHERE id > ? AND id <= ? ORDER BY id LIMIT ?;

-- name: session_states
SELECT t.*, p.path AS project, n.size || ' ' || n.changed AS notes_version
FROM transcripts t JOIN projects p ON p.number = t.number >> 15
LEFT JOIN notes n ON n.number = t.number
ORDER BY t.number DESC;
