-- What is running among all that ever ran, what somebody said, what agents of a kind know, and what
-- was saved for a project: few rows, for which everything was gone through.

-- Whoever writes may hold one of these and want another: that is found out before there is work done.
LOCK TABLE subtasks, tasks, requests, messages, agent_contexts IN SHARE ROW EXCLUSIVE MODE;
CREATE INDEX requests_by_status ON requests (status, created_at);
CREATE INDEX tasks_by_status ON tasks (status, created_at);
CREATE INDEX subtasks_by_status ON subtasks (status, created_at);
CREATE INDEX messages_by_sender ON messages (from_agent_id, created_at);
CREATE INDEX agent_contexts_by_type ON agent_contexts (agent_type, updated_at)
    WHERE agent_type <> 'compact-snapshot';
CREATE INDEX agent_contexts_by_project ON agent_contexts (project, updated_at)
    WHERE project <> '';

-- As for sessions: however few there are of these, what one of them has is not soon met.
ALTER TABLE requests ALTER COLUMN status SET (n_distinct = 100);
ALTER TABLE tasks ALTER COLUMN status SET (n_distinct = 100);
ALTER TABLE subtasks ALTER COLUMN status SET (n_distinct = 100);
ALTER TABLE messages ALTER COLUMN from_agent_id SET (n_distinct = -0.01);
ALTER TABLE agent_contexts ALTER COLUMN project SET (n_distinct = 1000);
ANALYZE requests, tasks, subtasks, messages, agent_contexts;
