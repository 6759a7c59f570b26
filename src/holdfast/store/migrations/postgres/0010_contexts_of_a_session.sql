-- A restore tells what agents of its session know. Snapshots are found by their agent, and there are
-- too many of them for one index more.
CREATE INDEX agent_contexts_by_session ON agent_contexts (session, updated_at)
    WHERE agent_type <> 'compact-snapshot';
