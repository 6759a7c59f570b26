-- Words in the order of the text take half the room of words with their places, tell the same, and
-- the index is made of them. Besides, what a timeline needs to know of a piece.
-- A large team's texts may take longer than a statement otherwise may.
SET LOCAL statement_timeout = 0;

CREATE TABLE recall_lean (
    id BIGINT PRIMARY KEY,
    project BIGINT NOT NULL,
    at BIGINT NOT NULL,
    -- Of a tool's result: the line of its call, and whether it went well, if that is known.
    call INTEGER,
    kind SMALLINT NOT NULL,
    -- Whether it stands in the main line of the conversation: see `index/texts.py`. Nothing is
    -- known of what was sent before this was.
    aside SMALLINT,
    ok BOOLEAN,
    tool TEXT NOT NULL,
    file TEXT NOT NULL,
    text BYTEA NOT NULL,
    -- Holdfast's own words, in order: those of the text, `_`, and those that were added to it.
    words TEXT COLLATE "C" NOT NULL
);
-- It is packed already.
ALTER TABLE recall_lean ALTER COLUMN text SET STORAGE EXTERNAL;

INSERT INTO recall_lean (id, project, at, kind, tool, file, text, words)
SELECT id, project, at, kind, tool, '', text, coalesce((
    SELECT string_agg(CASE WHEN apart THEN '_ ' || lexeme ELSE lexeme END, ' ' ORDER BY place)
    FROM (
        SELECT lexeme, place, place > lag(place) OVER (ORDER BY place) + 1 AS apart
        FROM unnest(old.words) AS told CROSS JOIN unnest(told.positions) AS place
    ) AS placed
), '')
FROM recall_pieces old
ORDER BY id;

DROP TABLE recall_pieces;
ALTER TABLE recall_lean RENAME TO recall_pieces;
ALTER INDEX recall_lean_pkey RENAME TO recall_pieces_pkey;

-- What a piece is found by: its words, its kind, its project and where it stands. Sessions are also
-- told in sixteens, so that any stretch of them is a few words. Not written into the index itself:
-- PostgreSQL would think it cheap to work out for every row. Nor safe for workers: to start one
-- takes longer than a lookup.
CREATE FUNCTION recall_lexemes(id BIGINT, project BIGINT, kind SMALLINT, words TEXT)
RETURNS TSVECTOR LANGUAGE plpgsql IMMUTABLE COST 10000 AS $$
BEGIN
    RETURN array_to_tsvector(string_to_array(words, ' ') || ARRAY[
        '_k' || kind, '_p' || project, '_s' || (id >> 31),
        '_t' || (id >> 35), '_u' || (id >> 39), '_v' || (id >> 43)
    ]);
END
$$;
-- Every question reads what waits to be put in its place: a little of it is quicker to put up with
-- than to do without.
CREATE INDEX recall_pieces_by_words ON recall_pieces
    USING gin (recall_lexemes(id, project, kind, words)) WITH (gin_pending_list_limit = 512);
-- How far back to look is told by how common a word is: so some more of them are counted.
ALTER INDEX recall_pieces_by_words ALTER COLUMN 1 SET STATISTICS 300;
