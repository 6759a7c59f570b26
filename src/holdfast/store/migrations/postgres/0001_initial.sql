-- A team's database: the store and the ledger of its machines, and the texts they have indexed.
-- The tables and columns are those of ../sqlite and ../sqlite_ledger; conversations stay on their
-- machine. Times are seconds since 1970.

-- A session of a coding agent: how far its transcript was read, and the state folded so far.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    -- The root path of the project.
    project TEXT NOT NULL,
    -- The path of the transcript, and the reader's position in it (JSON).
    transcript TEXT NOT NULL,
    cursor TEXT NOT NULL,
    -- The folded state, encoded by store/codec.py.
    state TEXT NOT NULL,
    -- Increases with each save. Of two processes that fold at the same time, the one that saves
    -- second finds another revision than it read, and folds again.
    revision BIGINT NOT NULL,
    -- Lines in the transcript when Holdfast first saw the session.
    first_line BIGINT NOT NULL,
    started_at DOUBLE PRECISION NOT NULL,
    seen_at DOUBLE PRECISION NOT NULL,
    ended_at DOUBLE PRECISION
);
-- The sessions of a project, latest first.
CREATE INDEX sessions_by_project ON sessions (project, seen_at);

-- A saved state of a session. Its content never changes; `holdfast gc` may compress it further.
CREATE TABLE snapshots (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    -- What caused it: manual, auto, threshold, stop, session-end or api.
    reason TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    -- How many lines of the transcript it covers.
    line BIGINT NOT NULL,
    -- How complete the state is: a restore uses the richest snapshot.
    richness BIGINT NOT NULL,
    -- Tokens in the context window at that time.
    context BIGINT NOT NULL,
    -- The state, compressed.
    state BYTEA NOT NULL
);
-- The snapshots of a session, latest first, and the time of the latest one.
CREATE INDEX snapshots_by_session ON snapshots (session, created_at);

-- A compaction of a session: the snapshot taken before it, the host's summary, and the brief that
-- was sent after it with its delivery receipt.
CREATE TABLE compactions (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    -- The number of the compaction within its session, from 1.
    ordinal BIGINT NOT NULL,
    trigger_name TEXT,
    opened_at DOUBLE PRECISION NOT NULL,
    snapshot TEXT REFERENCES snapshots (id),
    summary TEXT,
    brief_id TEXT,
    brief TEXT,
    brief_at DOUBLE PRECISION,
    -- How many lines the transcript had when the brief was sent.
    brief_line BIGINT,
    -- The hook that sent the brief.
    delivered_by TEXT,
    receipt TEXT NOT NULL DEFAULT 'pending',
    -- The line of the transcript that the receipt was read from.
    receipt_line BIGINT,
    PRIMARY KEY (session, ordinal)
);

-- The last run of one hook of one host, for `holdfast doctor`.
CREATE TABLE hooks_seen (
    host TEXT NOT NULL,
    event TEXT NOT NULL,
    times BIGINT NOT NULL,
    last_at DOUBLE PRECISION NOT NULL,
    last_milliseconds DOUBLE PRECISION NOT NULL,
    last_session TEXT NOT NULL,
    PRIMARY KEY (host, event)
);

-- A JSON value that hooks or users attach to a session and that its transcript does not contain:
-- commands started or stopped by hand, thresholds already passed since the last compaction.
CREATE TABLE marks (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (session, name)
);

-- The result that a sub-agent returned when it stopped, shortened, with its full last message.
-- A sub-agent that is resumed and stops again replaces its row.
CREATE TABLE handoffs (
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    agent TEXT NOT NULL,
    agent_type TEXT NOT NULL,
    task TEXT NOT NULL,
    line BIGINT NOT NULL,
    status TEXT NOT NULL,
    decision TEXT NOT NULL,
    -- Summary, files, issues and problems (JSON).
    content TEXT NOT NULL,
    -- The full message, compressed.
    raw BYTEA NOT NULL,
    tokens_before BIGINT NOT NULL,
    tokens_after BIGINT NOT NULL,
    captured_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (session, agent)
);

-- The ledger: work, agents and messages that agents and orchestrators share.
--
-- Rows come from folded transcripts, from API callers and from other machines, in any order, so no
-- row refers to another by a foreign key. Lists and objects are JSON in TEXT columns, because
-- PostgreSQL's JSON types refuse \u0000, which tools do print.

-- A project: a working tree. Clones of one repository on several machines are one project.
CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL
);

-- A path at which a project was found. The id is the path.
CREATE TABLE project_paths (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL
);

-- A request: what a user asked for. These columns are the same in requests, tasks and subtasks:
-- `source` is the fact in the transcript that the row was folded from,
-- `likeness` is a hash that a caller's row and a folded row for the same thing have in common,
-- `posted` is 1 if an API caller created or claimed the row,
-- `folded` is the status that the fold gave last,
-- `retry` and `retry_words` are hashes of the caller's idempotency key and of the texts with it.
CREATE TABLE requests (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    prompt TEXT NOT NULL,
    prompt_type TEXT NOT NULL,
    status TEXT NOT NULL,
    metadata TEXT NOT NULL,
    source TEXT UNIQUE,
    likeness TEXT NOT NULL,
    posted BIGINT NOT NULL,
    folded TEXT NOT NULL,
    retry TEXT,
    retry_words TEXT,
    created_at DOUBLE PRECISION NOT NULL,
    completed_at DOUBLE PRECISION,
    updated_at DOUBLE PRECISION NOT NULL
);
-- The requests of a project, by time.
CREATE INDEX requests_by_project ON requests (project, created_at);
-- The row that an idempotency key created before.
CREATE INDEX requests_by_retry ON requests (session, retry) WHERE retry IS NOT NULL;
-- Pages of all requests.
CREATE INDEX requests_by_time ON requests (created_at, id);
-- The requests of a status, for example the few that are running.
CREATE INDEX requests_by_status ON requests (status, created_at);
-- The requests of a session, by time.
CREATE INDEX requests_by_session ON requests (session, created_at);

-- A task: a step of a plan for a request. Tasks of one wave can run at the same time.
CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    request TEXT NOT NULL,
    name TEXT NOT NULL,
    wave_number BIGINT NOT NULL,
    status TEXT NOT NULL,
    source TEXT UNIQUE,
    likeness TEXT NOT NULL,
    posted BIGINT NOT NULL,
    folded TEXT NOT NULL,
    retry TEXT,
    retry_words TEXT,
    created_at DOUBLE PRECISION NOT NULL,
    completed_at DOUBLE PRECISION,
    updated_at DOUBLE PRECISION NOT NULL
);
-- The tasks of a project, by time.
CREATE INDEX tasks_by_project ON tasks (project, created_at);
-- The tasks of one wave of a session.
CREATE INDEX tasks_by_session ON tasks (session, wave_number);
-- The row that an idempotency key created before.
CREATE INDEX tasks_by_retry ON tasks (session, retry) WHERE retry IS NOT NULL;
-- Pages of all tasks.
CREATE INDEX tasks_by_time ON tasks (created_at, id);
-- The tasks of a status, for example the few that are running.
CREATE INDEX tasks_by_status ON tasks (status, created_at);
-- The tasks of a session, by time.
CREATE INDEX tasks_in_session ON tasks (session, created_at);
-- The tasks of a request, by time.
CREATE INDEX tasks_by_request ON tasks (request, created_at);

-- A subtask: a part of a task that one agent works on.
CREATE TABLE subtasks (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    task TEXT NOT NULL,
    agent_type TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL,
    -- The ids of the subtasks that have to be completed first (JSON list).
    blocked_by TEXT NOT NULL,
    result TEXT NOT NULL,
    priority BIGINT NOT NULL,
    retry_count BIGINT NOT NULL,
    source TEXT UNIQUE,
    likeness TEXT NOT NULL,
    posted BIGINT NOT NULL,
    folded TEXT NOT NULL,
    retry TEXT,
    retry_words TEXT,
    created_at DOUBLE PRECISION NOT NULL,
    started_at DOUBLE PRECISION,
    completed_at DOUBLE PRECISION,
    updated_at DOUBLE PRECISION NOT NULL
);
-- The subtasks of a project, by time.
CREATE INDEX subtasks_by_project ON subtasks (project, created_at);
-- The row that an idempotency key created before.
CREATE INDEX subtasks_by_retry ON subtasks (session, retry) WHERE retry IS NOT NULL;
-- Pages of all subtasks.
CREATE INDEX subtasks_by_time ON subtasks (created_at, id);
-- The subtasks of a status, for example the few that are running.
CREATE INDEX subtasks_by_status ON subtasks (status, created_at);
-- The subtasks of an agent, by time.
CREATE INDEX subtasks_by_agent ON subtasks (agent_id, created_at);
-- The subtasks of a session, by time.
CREATE INDEX subtasks_by_session ON subtasks (session, created_at);
-- The subtasks of a task, by time.
CREATE INDEX subtasks_by_task ON subtasks (task, created_at);
-- The subtasks that wait for others, to find those that a completed one unblocks.
CREATE INDEX subtasks_waiting ON subtasks (status) WHERE blocked_by <> '[]';

-- An action: one tool call. A second report of the same call only fills in what was missing or new.
CREATE TABLE actions (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    subtask TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    tool_type TEXT NOT NULL,
    input TEXT NOT NULL,
    output TEXT NOT NULL,
    file_paths TEXT NOT NULL,
    exit_code BIGINT,
    duration_ms BIGINT,
    metadata TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL
);
-- Pages of all actions.
CREATE INDEX actions_by_time ON actions (created_at, id);
-- The actions of a project, by time.
CREATE INDEX actions_by_project ON actions (project, created_at);
-- The actions of a session, by time: a restore reads the latest.
CREATE INDEX actions_by_session ON actions (session, created_at);
-- The actions of a subtask, by time.
CREATE INDEX actions_by_subtask ON actions (subtask, created_at);

-- A wave: a group of tasks of a session that run at the same time, and how many are done.
CREATE TABLE waves (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    wave_number BIGINT NOT NULL,
    status TEXT NOT NULL,
    total_tasks BIGINT NOT NULL,
    completed_tasks BIGINT NOT NULL,
    failed_tasks BIGINT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    started_at DOUBLE PRECISION,
    completed_at DOUBLE PRECISION,
    updated_at DOUBLE PRECISION NOT NULL
);
-- The waves of a session, in order.
CREATE INDEX waves_by_session ON waves (session, wave_number);

-- An agent in one session: its status, and how full its context window is.
CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    agent_type TEXT NOT NULL,
    parent TEXT NOT NULL,
    status TEXT NOT NULL,
    -- The size of the window and what is used of it, in tokens, and the tokens used per minute.
    capacity BIGINT NOT NULL,
    used BIGINT NOT NULL,
    rate DOUBLE PRECISION NOT NULL,
    compactions BIGINT NOT NULL,
    compacted_at DOUBLE PRECISION,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL
);
-- The latest session of an agent.
CREATE INDEX agents_by_agent ON agents (agent_id, updated_at);
-- The agents of a session.
CREATE INDEX agents_by_session ON agents (session, updated_at);

-- What an agent knows and does. A snapshot that an API caller saved is a row of the agent type
-- `compact-snapshot`.
CREATE TABLE agent_contexts (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    agent_type TEXT NOT NULL,
    role_context TEXT NOT NULL,
    skills_to_restore TEXT NOT NULL,
    tools_used TEXT NOT NULL,
    progress_summary TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL
);
-- Pages of all contexts.
CREATE INDEX agent_contexts_by_time ON agent_contexts (updated_at, id);
-- The contexts of an agent type. Snapshots, which are most of the rows, are found by their agent.
CREATE INDEX agent_contexts_by_type ON agent_contexts (agent_type, updated_at)
    WHERE agent_type <> 'compact-snapshot';
-- The contexts and snapshots of a project.
CREATE INDEX agent_contexts_by_project ON agent_contexts (project, updated_at)
    WHERE project <> '';
-- The contexts of the agents of a session, for a restore.
CREATE INDEX agent_contexts_by_session ON agent_contexts (session, updated_at)
    WHERE agent_type <> 'compact-snapshot';
-- The latest context or snapshot of an agent.
CREATE INDEX agent_contexts_by_agent ON agent_contexts (agent_id, agent_type, updated_at);

-- A message to one agent, or to all agents where to_agent_id is empty.
CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    from_agent_id TEXT NOT NULL,
    to_agent_id TEXT NOT NULL,
    message_type TEXT NOT NULL,
    topic TEXT NOT NULL,
    payload TEXT NOT NULL,
    priority BIGINT NOT NULL,
    -- 1 if the agent it is addressed to has read it. The triggers below set it from message_reads,
    -- so that unread messages are found without looking at all that were ever read.
    taken BIGINT NOT NULL DEFAULT 0,
    created_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL
);
-- Pages of all messages.
CREATE INDEX messages_by_time ON messages (created_at, id);
-- The messages to an agent, by time.
CREATE INDEX messages_by_receiver ON messages (to_agent_id, created_at);
-- The messages that have expired, for `holdfast gc`.
CREATE INDEX messages_by_end ON messages (expires_at);
-- The unread messages to an agent.
CREATE INDEX messages_waiting ON messages (to_agent_id) WHERE taken = 0;
-- The messages from an agent, by time.
CREATE INDEX messages_by_sender ON messages (from_agent_id, created_at);

-- A read receipt: an agent has read a message.
CREATE TABLE message_reads (
    id TEXT PRIMARY KEY,
    message TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL
);
-- The receipts of a message.
CREATE INDEX message_reads_by_message ON message_reads (message);

CREATE FUNCTION message_is_read() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE messages SET taken = 1 WHERE id = NEW.message AND to_agent_id = NEW.agent_id;
    RETURN NULL;
END $$;
CREATE TRIGGER message_is_read AFTER INSERT ON message_reads
FOR EACH ROW EXECUTE FUNCTION message_is_read();
CREATE FUNCTION message_is_for_another() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.taken = 0;
    RETURN NEW;
END $$;
CREATE TRIGGER message_is_for_another BEFORE UPDATE OF to_agent_id ON messages
FOR EACH ROW WHEN (NEW.to_agent_id <> OLD.to_agent_id) EXECUTE FUNCTION message_is_for_another();

-- A topic that an agent subscribes to. Agents of several projects may have the same name: the
-- subscription counts in its project, or everywhere if the project is empty.
CREATE TABLE subscriptions (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL DEFAULT '',
    agent_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL
);
-- The topics of an agent.
CREATE INDEX subscriptions_by_agent ON subscriptions (agent_id);

-- One agent waits for another.
CREATE TABLE blockings (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL DEFAULT '',
    blocked_id TEXT NOT NULL,
    blocker_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL
);
-- The agents that an agent waits for.
CREATE INDEX blockings_by_blocked ON blockings (blocked_id);
-- The agents that wait for an agent.
CREATE INDEX blockings_by_blocker ON blockings (blocker_id);

-- An access token for the server, for use from other machines. Only a hash of the token is stored.
CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    project TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION,
    revoked_at DOUBLE PRECISION,
    updated_at DOUBLE PRECISION NOT NULL
);

-- The change feed: one row for each row that was written or deleted, in order. The id is a hash of
-- the content, so the same change is recorded once.
CREATE TABLE changes (
    -- Assigned before the transaction commits, so a lower number may become visible later than a
    -- higher one. The transaction id shows which changes are complete.
    seq BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
    id TEXT NOT NULL UNIQUE,
    -- The table, and the id of the row in it.
    kind TEXT NOT NULL,
    record TEXT NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    -- 1 if the row was deleted.
    gone BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL
);
-- The changes after a given one.
CREATE INDEX changes_in_order ON changes (tx, seq);

-- The last change that was sent to a team's database.
CREATE TABLE sent (
    target TEXT PRIMARY KEY,
    seq BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL
);

-- How far the transcript of a session was read into the ledger (JSON), and a few values under names
-- that no session has.
CREATE TABLE readings (
    id TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- A tombstone of a deleted project, request, task or subtask: the fold finds it in the transcript
-- again and must not bring it back. It keeps its number among rows of the same text, so that the
-- next such row gets another number.
CREATE TABLE dropped (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    session TEXT NOT NULL,
    likeness TEXT NOT NULL,
    source TEXT,
    posted BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL
);
-- The tombstones of a session, for the fold.
CREATE INDEX dropped_by_session ON dropped (session);

-- Planner hints. Where a few sessions have most of the rows, the planner expects to meet rows of
-- any session soon, and searches the time index for the latest rows of one session: through all
-- rows, for a session that has none. The same goes for projects, agents and statuses. With these
-- estimates it expects many different values and uses the index of the column.
ALTER TABLE requests
    ALTER COLUMN project SET (n_distinct = 1000), ALTER COLUMN session SET (n_distinct = -0.1),
    ALTER COLUMN status SET (n_distinct = 100);
ALTER TABLE tasks
    ALTER COLUMN project SET (n_distinct = 1000), ALTER COLUMN session SET (n_distinct = -0.1),
    ALTER COLUMN request SET (n_distinct = -0.1), ALTER COLUMN status SET (n_distinct = 100);
ALTER TABLE subtasks
    ALTER COLUMN project SET (n_distinct = 1000), ALTER COLUMN session SET (n_distinct = -0.1),
    ALTER COLUMN task SET (n_distinct = -0.1), ALTER COLUMN agent_id SET (n_distinct = -0.1),
    ALTER COLUMN status SET (n_distinct = 100);
ALTER TABLE actions
    ALTER COLUMN project SET (n_distinct = 1000), ALTER COLUMN session SET (n_distinct = -0.01),
    ALTER COLUMN subtask SET (n_distinct = -0.01);
ALTER TABLE agents
    ALTER COLUMN project SET (n_distinct = 1000), ALTER COLUMN session SET (n_distinct = -0.1),
    ALTER COLUMN agent_id SET (n_distinct = -0.1);
ALTER TABLE agent_contexts
    ALTER COLUMN project SET (n_distinct = 1000), ALTER COLUMN session SET (n_distinct = -0.1),
    ALTER COLUMN agent_id SET (n_distinct = -0.1);
ALTER TABLE messages
    ALTER COLUMN to_agent_id SET (n_distinct = -0.01),
    ALTER COLUMN from_agent_id SET (n_distinct = -0.01);

-- The search index of a team: texts that machines have indexed and sent.

-- The number of a project in the search index.
CREATE TABLE recall_projects (
    number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    -- The id of the project in the ledger.
    project TEXT NOT NULL UNIQUE
);

-- A session whose texts were sent, and how far.
CREATE TABLE recall_sessions (
    -- The upper bits of the ids of its texts. Sessions are numbered in the order they arrive.
    number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    session TEXT NOT NULL UNIQUE,
    project BIGINT NOT NULL,
    -- The line of the last compaction, or 0.
    compaction BIGINT NOT NULL,
    -- How many texts it has here.
    documents BIGINT NOT NULL,
    -- The last text of the transcript that has arrived, and a hash of it: where the machine
    -- continues, and whether it still reads the same transcript.
    sent BIGINT NOT NULL,
    mark TEXT NOT NULL,
    -- Which version of the session's notes has arrived.
    notes TEXT NOT NULL,
    -- When the newest text was written.
    last_at DOUBLE PRECISION NOT NULL
);
-- The sessions of a project, latest first.
CREATE INDEX recall_sessions_by_project ON recall_sessions (project, number);

-- The text of one event or of one paragraph of notes. The id contains the session, the line and the
-- position within the line: a session or a line is a range of ids, and later texts have higher ids.
CREATE TABLE recall_documents (
    id BIGINT PRIMARY KEY,
    project BIGINT NOT NULL,
    at BIGINT NOT NULL,
    -- For a tool result: the line of its call, and whether it succeeded, if that is known.
    call INTEGER,
    kind SMALLINT NOT NULL,
    -- Whether it is outside the main conversation: see search/documents.py. NULL if not known.
    aside SMALLINT,
    ok BOOLEAN,
    tool TEXT NOT NULL,
    file TEXT NOT NULL,
    -- Compressed.
    text BYTEA NOT NULL,
    -- The words of Holdfast's own tokenizer in the order of the text, then `_`, then words added to
    -- it. In this form they take half the space of a tsvector with positions.
    words TEXT COLLATE "C" NOT NULL
);
-- The text is compressed already.
ALTER TABLE recall_documents ALTER COLUMN text SET STORAGE EXTERNAL;

-- What a text is found by: its words, kind, project and session. Sessions are also grouped by 16,
-- 256 and 4,096, so that any range of sessions is a few lexemes. A function with a high cost, because
-- PostgreSQL would otherwise consider the expression cheap enough to compute for every row; and not
-- PARALLEL SAFE, because starting a worker takes longer than a lookup.
CREATE FUNCTION recall_lexemes(id BIGINT, project BIGINT, kind SMALLINT, words TEXT)
RETURNS TSVECTOR LANGUAGE plpgsql IMMUTABLE COST 10000 AS $$
BEGIN
    RETURN array_to_tsvector(string_to_array(words, ' ') || ARRAY[
        '_k' || kind, '_p' || project, '_s' || (id >> 31),
        '_t' || (id >> 35), '_u' || (id >> 39), '_v' || (id >> 43)
    ]);
END
$$;
-- Full-text search. Every lookup reads the list of pending entries, so the list is kept short.
CREATE INDEX recall_documents_by_words ON recall_documents
    USING gin (recall_lexemes(id, project, kind, words)) WITH (gin_pending_list_limit = 512);
-- How far back a search looks depends on how common a word is, so more words are counted.
ALTER INDEX recall_documents_by_words ALTER COLUMN 1 SET STATISTICS 300;
