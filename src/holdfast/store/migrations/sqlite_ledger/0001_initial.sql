-- The ledger of one machine (ledger.db): work, agents and messages that agents and orchestrators
-- share. It is a file of its own, so that no hook waits for a lock while it is filled.
--
-- Rows come from folded transcripts, from API callers and from other machines, in any order, so no
-- row refers to another by a foreign key. Lists and objects are JSON in TEXT columns, because
-- PostgreSQL's JSON types refuse \u0000, which tools do print. Times are seconds since 1970.
--
-- Among indexes that look equally good SQLite uses the one that was created last. Within each table
-- the more selective indexes (one session, one task) therefore come after the broader ones (one
-- status, one project).

-- A project: a working tree. Clones of one repository on several machines are one project.
CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
);

-- A path at which a project was found. The id is the path.
CREATE TABLE project_paths (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    updated_at REAL NOT NULL
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
    posted INTEGER NOT NULL,
    folded TEXT NOT NULL,
    retry TEXT,
    retry_words TEXT,
    created_at REAL NOT NULL,
    completed_at REAL,
    updated_at REAL NOT NULL
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
    wave_number INTEGER NOT NULL,
    status TEXT NOT NULL,
    source TEXT UNIQUE,
    likeness TEXT NOT NULL,
    posted INTEGER NOT NULL,
    folded TEXT NOT NULL,
    retry TEXT,
    retry_words TEXT,
    created_at REAL NOT NULL,
    completed_at REAL,
    updated_at REAL NOT NULL
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
    priority INTEGER NOT NULL,
    retry_count INTEGER NOT NULL,
    source TEXT UNIQUE,
    likeness TEXT NOT NULL,
    posted INTEGER NOT NULL,
    folded TEXT NOT NULL,
    retry TEXT,
    retry_words TEXT,
    created_at REAL NOT NULL,
    started_at REAL,
    completed_at REAL,
    updated_at REAL NOT NULL
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
    exit_code INTEGER,
    duration_ms INTEGER,
    metadata TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
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
    wave_number INTEGER NOT NULL,
    status TEXT NOT NULL,
    total_tasks INTEGER NOT NULL,
    completed_tasks INTEGER NOT NULL,
    failed_tasks INTEGER NOT NULL,
    created_at REAL NOT NULL,
    started_at REAL,
    completed_at REAL,
    updated_at REAL NOT NULL
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
    capacity INTEGER NOT NULL,
    used INTEGER NOT NULL,
    rate REAL NOT NULL,
    compactions INTEGER NOT NULL,
    compacted_at REAL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
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
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
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
    priority INTEGER NOT NULL,
    -- 1 if the agent it is addressed to has read it. The triggers below set it from message_reads,
    -- so that unread messages are found without looking at all that were ever read.
    taken INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    updated_at REAL NOT NULL
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
    updated_at REAL NOT NULL
);
-- The receipts of a message.
CREATE INDEX message_reads_by_message ON message_reads (message);

CREATE TRIGGER message_is_read AFTER INSERT ON message_reads BEGIN
    UPDATE messages SET taken = 1 WHERE id = NEW.message AND to_agent_id = NEW.agent_id;
END;
CREATE TRIGGER message_is_for_another AFTER UPDATE OF to_agent_id ON messages
WHEN NEW.to_agent_id <> OLD.to_agent_id BEGIN
    UPDATE messages SET taken = 0 WHERE id = NEW.id;
END;

-- A topic that an agent subscribes to. Agents of several projects may have the same name: the
-- subscription counts in its project, or everywhere if the project is empty.
CREATE TABLE subscriptions (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL DEFAULT '',
    agent_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
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
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
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
    created_at REAL NOT NULL,
    expires_at REAL,
    revoked_at REAL,
    updated_at REAL NOT NULL
);

-- The change feed: one row for each row that was written or deleted, in order. The id is a hash of
-- the content, so the same change is recorded once.
CREATE TABLE changes (
    seq INTEGER PRIMARY KEY,
    -- Used in PostgreSQL only.
    tx INTEGER NOT NULL DEFAULT 0,
    id TEXT NOT NULL UNIQUE,
    -- The table, and the id of the row in it.
    kind TEXT NOT NULL,
    record TEXT NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    -- 1 if the row was deleted.
    gone INTEGER NOT NULL,
    at REAL NOT NULL
);
-- The changes after a given one.
CREATE INDEX changes_in_order ON changes (tx, seq);

-- The last change that was sent to a team's database.
CREATE TABLE sent (
    target TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    at REAL NOT NULL
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
    posted INTEGER NOT NULL,
    at REAL NOT NULL
);
-- The tombstones of a session, for the fold.
CREATE INDEX dropped_by_session ON dropped (session);
