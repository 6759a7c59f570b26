-- Agents of several projects may have the same name: what one of them listens to or waits for is its
-- own. What is there belongs to the only project that has an agent of that name.
ALTER TABLE subscriptions ADD COLUMN project TEXT NOT NULL DEFAULT '';
UPDATE subscriptions SET project = coalesce((
    SELECT CASE WHEN min(agents.project) = max(agents.project) THEN min(agents.project) END
    FROM agents WHERE agents.agent_id = subscriptions.agent_id AND agents.project <> ''
), '');
ALTER TABLE blockings ADD COLUMN project TEXT NOT NULL DEFAULT '';
UPDATE blockings SET project = coalesce((
    SELECT CASE WHEN min(agents.project) = max(agents.project) THEN min(agents.project) END
    FROM agents WHERE agents.agent_id = blockings.blocked_id AND agents.project <> ''
), '');
