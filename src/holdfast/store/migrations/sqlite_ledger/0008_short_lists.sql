-- What is running among all that ever ran, what somebody said, what agents of a kind know, and what
-- was saved for a project: few rows, for which everything was gone through.
CREATE INDEX requests_by_status ON requests (status, created_at);
CREATE INDEX tasks_by_status ON tasks (status, created_at);
CREATE INDEX subtasks_by_status ON subtasks (status, created_at);
CREATE INDEX messages_by_sender ON messages (from_agent_id, created_at);
CREATE INDEX agent_contexts_by_type ON agent_contexts (agent_type, updated_at)
    WHERE agent_type <> 'compact-snapshot';
CREATE INDEX agent_contexts_by_project ON agent_contexts (project, updated_at)
    WHERE project <> '';

-- Of two indexes that look equally good SQLite takes the one that was made last, and what is of one
-- session, request or task, or waits for something, is always less than what is of one status.
DROP INDEX requests_by_session;
CREATE INDEX requests_by_session ON requests (session, created_at);
DROP INDEX tasks_in_session;
CREATE INDEX tasks_in_session ON tasks (session, created_at);
DROP INDEX tasks_by_request;
CREATE INDEX tasks_by_request ON tasks (request, created_at);
DROP INDEX subtasks_by_agent;
CREATE INDEX subtasks_by_agent ON subtasks (agent_id, created_at);
DROP INDEX subtasks_by_session;
CREATE INDEX subtasks_by_session ON subtasks (session, created_at);
DROP INDEX subtasks_by_task;
CREATE INDEX subtasks_by_task ON subtasks (task, created_at);
DROP INDEX subtasks_waiting;
CREATE INDEX subtasks_waiting ON subtasks (status) WHERE blocked_by <> '[]';
DROP INDEX agent_contexts_by_session;
CREATE INDEX agent_contexts_by_session ON agent_contexts (session, updated_at)
    WHERE agent_type <> 'compact-snapshot';
DROP INDEX agent_contexts_by_agent;
CREATE INDEX agent_contexts_by_agent ON agent_contexts (agent_id, agent_type, updated_at);
