-- Dropped and created again when the version changes: everything here can be read from the
-- transcripts and notes again.

CREATE TABLE projects (
    number INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE
);

-- A session's transcript and how far it was read.
CREATE TABLE transcripts (
    -- Project number and session number: the upper bits of the ids of the session's documents.
    number INTEGER PRIMARY KEY,
    session TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL,
    cursor TEXT NOT NULL,
    -- Size and modification time of the file when it was last read, to see quickly if it grew.
    size INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    -- Tool calls whose results have not been read yet.
    calls TEXT NOT NULL,
    -- The line of the last compaction, or 0.
    compaction INTEGER NOT NULL,
    -- How many documents were indexed, and how many bytes of text.
    documents INTEGER NOT NULL,
    indexed INTEGER NOT NULL
);

-- A session's notes file as it was when it was last read.
CREATE TABLE notes (
    -- The session's number, as in `transcripts`.
    number INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    changed INTEGER NOT NULL
);

-- The text of one event, or of one paragraph of the notes, compressed. The id contains project,
-- session, line and position within the line: a project, a session or a line is a range of ids.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    tool TEXT NOT NULL,
    file TEXT NOT NULL,
    at INTEGER NOT NULL,
    text BLOB NOT NULL,
    -- For a tool result: the line of its call, and whether it succeeded, if that is known.
    call INTEGER NOT NULL DEFAULT 0,
    ok INTEGER,
    -- Whether it is outside the main conversation: see `documents.py`.
    aside INTEGER NOT NULL DEFAULT 0
);

-- Contentless: the texts are in `documents`. `also` holds the words that the tokenizer adds.
CREATE VIRTUAL TABLE words USING fts5(
    text, also, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
