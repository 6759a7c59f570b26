-- The ledger: what agents and orchestrators share. Rows arrive from the fold, from callers and from
-- other machines, in any order, so no row refers to another by a foreign key. Lists and objects are
-- JSON in TEXT: PostgreSQL's own type for it refuses \u0000, which tools do print.

-- A working tree. Clones on several machines are one project, found by any of their paths.
CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
);
CREATE TABLE project_paths (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    updated_at REAL NOT NULL
);

-- What a person asked for. In this and the next two tables: `source` names the fact that the fold
-- found, `likeness` what a caller's row and a found one have in common, `posted` whether a caller
-- has claimed the row, `folded` the status that the fold last gave.
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
    created_at REAL NOT NULL,
    completed_at REAL,
    updated_at REAL NOT NULL
);
CREATE INDEX requests_by_project ON requests (project, created_at);
CREATE INDEX requests_by_session ON requests (session, created_at);

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
    created_at REAL NOT NULL,
    completed_at REAL,
    updated_at REAL NOT NULL
);
CREATE INDEX tasks_by_project ON tasks (project, created_at);
CREATE INDEX tasks_by_session ON tasks (session, wave_number);
CREATE INDEX tasks_by_request ON tasks (request, created_at);

CREATE TABLE subtasks (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    task TEXT NOT NULL,
    agent_type TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL,
    blocked_by TEXT NOT NULL,
    result TEXT NOT NULL,
    priority INTEGER NOT NULL,
    retry_count INTEGER NOT NULL,
    source TEXT UNIQUE,
    likeness TEXT NOT NULL,
    posted INTEGER NOT NULL,
    folded TEXT NOT NULL,
    created_at REAL NOT NULL,
    started_at REAL,
    completed_at REAL,
    updated_at REAL NOT NULL
);
CREATE INDEX subtasks_by_project ON subtasks (project, created_at);
CREATE INDEX subtasks_by_session ON subtasks (session, created_at);
CREATE INDEX subtasks_by_task ON subtasks (task, created_at);

-- A tool call. Never changed after it was written.
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
CREATE INDEX actions_by_time ON actions (created_at, id);
CREATE INDEX actions_by_session ON actions (session, created_at);
CREATE INDEX actions_by_subtask ON actions (subtask, created_at);

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
CREATE INDEX waves_by_session ON waves (session, wave_number);

-- Who is at work, and how full their context is.
CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    agent_type TEXT NOT NULL,
    parent TEXT NOT NULL,
    status TEXT NOT NULL,
    capacity INTEGER NOT NULL,
    used INTEGER NOT NULL,
    rate REAL NOT NULL,
    compactions INTEGER NOT NULL,
    compacted_at REAL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
);
CREATE INDEX agents_by_agent ON agents (agent_id, updated_at);
CREATE INDEX agents_by_session ON agents (session, updated_at);

-- What an agent knows; a snapshot that a caller saved is one of type `compact-snapshot`.
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
CREATE INDEX agent_contexts_by_agent ON agent_contexts (agent_id, agent_type, updated_at);
CREATE INDEX agent_contexts_by_time ON agent_contexts (updated_at, id);

-- To one agent, or to all where to_agent_id is empty.
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
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    updated_at REAL NOT NULL
);
CREATE INDEX messages_by_time ON messages (created_at, id);
CREATE INDEX messages_by_receiver ON messages (to_agent_id, created_at);
CREATE INDEX messages_by_end ON messages (expires_at);
CREATE TABLE message_reads (
    id TEXT PRIMARY KEY,
    message TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    updated_at REAL NOT NULL
);
CREATE INDEX message_reads_by_message ON message_reads (message);
CREATE TABLE subscriptions (
    id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
);
CREATE INDEX subscriptions_by_agent ON subscriptions (agent_id);

-- One agent waits for another.
CREATE TABLE blockings (
    id TEXT PRIMARY KEY,
    blocked_id TEXT NOT NULL,
    blocker_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
);
CREATE INDEX blockings_by_blocked ON blockings (blocked_id);
CREATE INDEX blockings_by_blocker ON blockings (blocker_id);

-- Who may use the server from elsewhere; of the token itself only a hash is kept.
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

-- Every change in order, named by its content: what is sent twice is known the second time.
CREATE TABLE changes (
    seq INTEGER PRIMARY KEY,
    -- PostgreSQL numbers rows before they are committed; the transaction tells what is complete.
    tx INTEGER NOT NULL DEFAULT 0,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    record TEXT NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    gone INTEGER NOT NULL,
    at REAL NOT NULL
);
CREATE INDEX changes_in_order ON changes (tx, seq);

-- How far each team store has been told.
CREATE TABLE sent (
    target TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    at REAL NOT NULL
);

-- How far each session's state and transcript were read into the ledger.
CREATE TABLE readings (
    id TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
