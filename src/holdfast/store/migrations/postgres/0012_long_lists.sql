-- Lists of everything, of a project's tool calls and of an agent's subtasks, and whoever looks for
-- what waits, went through all there is.

-- Whoever writes may hold one of these and want another: that is found out before there is work done.
LOCK TABLE subtasks, tasks, requests, actions, messages, agent_contexts, agents
    IN SHARE ROW EXCLUSIVE MODE;
CREATE INDEX requests_by_time ON requests (created_at, id);
CREATE INDEX tasks_by_time ON tasks (created_at, id);
CREATE INDEX subtasks_by_time ON subtasks (created_at, id);
CREATE INDEX subtasks_by_agent ON subtasks (agent_id, created_at);
CREATE INDEX subtasks_waiting ON subtasks (status) WHERE blocked_by <> '[]';
CREATE INDEX tasks_in_session ON tasks (session, created_at);
CREATE INDEX actions_by_project ON actions (project, created_at);

-- Where a few sessions have most of the rows, PostgreSQL expects to meet any of them soon and looks
-- for the latest rows of one by their time, among everybody's: for a session that has none, through
-- all of them. So it is told that there are many of each.
ALTER TABLE requests
    ALTER COLUMN project SET (n_distinct = 1000), ALTER COLUMN session SET (n_distinct = -0.1);
ALTER TABLE tasks
    ALTER COLUMN project SET (n_distinct = 1000), ALTER COLUMN session SET (n_distinct = -0.1),
    ALTER COLUMN request SET (n_distinct = -0.1);
ALTER TABLE subtasks
    ALTER COLUMN project SET (n_distinct = 1000), ALTER COLUMN session SET (n_distinct = -0.1),
    ALTER COLUMN task SET (n_distinct = -0.1), ALTER COLUMN agent_id SET (n_distinct = -0.1);
ALTER TABLE actions
    ALTER COLUMN project SET (n_distinct = 1000), ALTER COLUMN session SET (n_distinct = -0.01),
    ALTER COLUMN subtask SET (n_distinct = -0.01);
ALTER TABLE agents
    ALTER COLUMN project SET (n_distinct = 1000), ALTER COLUMN session SET (n_distinct = -0.1),
    ALTER COLUMN agent_id SET (n_distinct = -0.1);
ALTER TABLE messages ALTER COLUMN to_agent_id SET (n_distinct = -0.01);
ALTER TABLE agent_contexts
    ALTER COLUMN session SET (n_distinct = -0.1), ALTER COLUMN agent_id SET (n_distinct = -0.1);
ANALYZE requests, tasks, subtasks, actions, agents, messages, agent_contexts;
