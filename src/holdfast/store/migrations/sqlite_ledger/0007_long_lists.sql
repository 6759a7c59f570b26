-- Lists of everything, of a project's tool calls and of an agent's subtasks, and whoever looks for
-- what waits, went through all there is.
CREATE INDEX requests_by_time ON requests (created_at, id);
CREATE INDEX tasks_by_time ON tasks (created_at, id);
CREATE INDEX subtasks_by_time ON subtasks (created_at, id);
CREATE INDEX subtasks_by_agent ON subtasks (agent_id, created_at);
CREATE INDEX subtasks_waiting ON subtasks (status) WHERE blocked_by <> '[]';
CREATE INDEX tasks_in_session ON tasks (session, created_at);
CREATE INDEX actions_by_project ON actions (project, created_at);

-- Of two indexes that look equally good SQLite takes the one that was made last, and a session is
-- always less than its project.
DROP INDEX actions_by_session;
CREATE INDEX actions_by_session ON actions (session, created_at);
DROP INDEX actions_by_subtask;
CREATE INDEX actions_by_subtask ON actions (subtask, created_at);
