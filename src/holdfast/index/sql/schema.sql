-- Made anew whenever the version changes: everything here can be read from the files again.

CREATE TABLE projects (
    number INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE
);

-- A session's transcript and how far it was read.
CREATE TABLE transcripts (
    -- The project's number and the session's within it: the upper bits of its pieces' ids.
    number INTEGER PRIMARY KEY,
    session TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL,
    cursor TEXT NOT NULL,
    -- The file's size and time of change when it was last read, to see at a glance if it grew.
    size INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    -- Tool calls whose results have not been read yet.
    calls TEXT NOT NULL,
    -- The line of the last compaction, or 0.
    compaction INTEGER NOT NULL,
    -- How many pieces were indexed, and how many bytes of text.
    pieces INTEGER NOT NULL,
    indexed INTEGER NOT NULL
);

-- A session's notes as they were when they were last read.
CREATE TABLE notes (
    -- The session's, as in `transcripts`.
    number INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    changed INTEGER NOT NULL
);

-- The text of one event, or of one paragraph of the notes, packed. The id holds project, session,
-- line and place within the line, so a session, a project or a line is a range of ids.
CREATE TABLE pieces (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    tool TEXT NOT NULL,
    file TEXT NOT NULL,
    at INTEGER NOT NULL,
    text BLOB NOT NULL,
    -- Of a tool's result: the line of its call, and whether it went well, if that is known.
    call INTEGER NOT NULL DEFAULT 0,
    ok INTEGER,
    -- Whether it stands in the main line of the conversation: see `texts.py`.
    aside INTEGER NOT NULL DEFAULT 0
);

-- Words only: the texts are in `pieces`.
CREATE VIRTUAL TABLE words USING fts5(
    text, also, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
