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
SELECT number, pieces FROM transcripts WHERE number BETWEEN ? AND ? ORDER BY number DESC;

-- name: last_number
SELECT max(number) AS number FROM transcripts WHERE number BETWEEN ? AND ?;

-- name: save_transcript
INSERT INTO transcripts
    (number, session, path, cursor, size, changed, calls, compaction, pieces, indexed)
VALUES
    (:number, :session, :path, :cursor, :size, :changed, :calls, :compaction, :pieces,
     :indexed)
ON CONFLICT (session) DO UPDATE
SET number = :number, path = :path, cursor = :cursor, size = :size, changed = :changed,
    calls = :calls, compaction = :compaction, pieces = :pieces, indexed = :indexed;

-- name: notes
SELECT n.* FROM notes n JOIN transcripts t ON t.number = n.number WHERE t.session = ?;

-- name: save_notes
INSERT INTO notes (number, path, size, changed) VALUES (:number, :path, :size, :changed)
ON CONFLICT (number) DO UPDATE SET path = :path, size = :size, changed = :changed;

-- name: forget_notes
DELETE FROM notes WHERE number = ?;

-- name: add_piece
INSERT INTO pieces (id, kind, tool, file, at, text, call, ok, aside)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_words
INSERT INTO words (rowid, text, also) VALUES (?, ?, ?);

-- name: forget_words
INSERT INTO words (words, rowid, text, also) VALUES ('delete', ?, ?, ?);

-- name: forget_transcript
DELETE FROM transcripts WHERE number = ?;

-- name: forget_pieces
DELETE FROM pieces WHERE id BETWEEN ? AND ?;

-- name: pieces_between
SELECT * FROM pieces WHERE id BETWEEN ? AND ? ORDER BY id;

-- name: found
SELECT rowid FROM words
WHERE words MATCH :match AND rowid BETWEEN :low AND :high
ORDER BY rowid DESC LIMIT :most;

-- name: found_filtered
SELECT w.rowid
FROM words w CROSS JOIN pieces p ON p.id = w.rowid
CROSS JOIN transcripts t ON t.number = w.rowid >> 31
WHERE words MATCH :match AND w.rowid BETWEEN :low AND :high
    AND (:kinds = '' OR instr(:kinds, ' ' || p.kind || ' '))
    AND (:tool = '' OR lower(p.tool) = lower(:tool))
    AND p.at >= :since
    AND (NOT :before OR (w.rowid >> 6 & 33554431) < t.compaction)
ORDER BY w.rowid DESC LIMIT :most;

-- name: about
SELECT p.id, p.kind, p.tool, p.at, p.text, t.session, t.compaction
FROM pieces p JOIN transcripts t ON t.number = p.id >> 31
WHERE p.id = ?;

-- name: latest_pieces
SELECT p.id, p.text
FROM pieces p JOIN transcripts t ON t.number = p.id >> 31
WHERE p.id BETWEEN :low AND :high
    AND (:kinds = '' OR instr(:kinds, ' ' || p.kind || ' '))
    AND (:tool = '' OR lower(p.tool) = lower(:tool))
    AND p.at >= :since
    AND (NOT :before OR (p.id >> 6 & 33554431) < t.compaction)
ORDER BY p.id DESC LIMIT :most;

-- name: first_piece
SELECT id FROM pieces WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1;

-- name: pieces_after
SELECT * FROM pieces WHERE id > ? AND id <= ? ORDER BY id LIMIT ?;

-- name: standings
SELECT t.*, p.path AS project, n.size || ' ' || n.changed AS noted
FROM transcripts t JOIN projects p ON p.number = t.number >> 15
LEFT JOIN notes n ON n.number = t.number
ORDER BY t.number DESC;
