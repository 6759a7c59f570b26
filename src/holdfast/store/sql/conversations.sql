-- name: add_conversation
INSERT INTO conversations
    (id, session, feature, agent_description, project_context, messages, live_messages,
     live_tokens, version, lease, leased_until, created_at, updated_at)
VALUES (:id, :session, :feature, '', '', 0, 0, 0, 0, '', 0, :now, :now)
ON CONFLICT (session, feature) DO NOTHING;

-- name: conversation
SELECT * FROM conversations WHERE session = :session AND feature = :feature;

-- name: conversations
SELECT * FROM conversations WHERE archived_at IS NULL ORDER BY updated_at DESC;

-- name: all_conversations
SELECT session, feature FROM conversations ORDER BY updated_at DESC;

-- A page of conversations, the latest first, each with the budget of its agent.
-- name: conversation_page
SELECT conversations.*, model, limit_tokens, trigger_tokens, warning_tokens FROM conversations
LEFT JOIN conversation_budgets ON conversation_budgets.conversation = conversations.id
WHERE (updated_at, id) < (:before_at, :before_id) ORDER BY updated_at DESC, id DESC LIMIT :limit;

-- name: conversation_by_id
SELECT conversations.*, model, limit_tokens, trigger_tokens, warning_tokens FROM conversations
LEFT JOIN conversation_budgets ON conversation_budgets.conversation = conversations.id
WHERE id = :id;

-- name: set_budget
INSERT INTO conversation_budgets
    (conversation, model, limit_tokens, trigger_tokens, warning_tokens)
VALUES (:id, :model, :limit, :trigger, :warning)
ON CONFLICT (conversation) DO UPDATE SET model = excluded.model,
    limit_tokens = excluded.limit_tokens, trigger_tokens = excluded.trigger_tokens,
    warning_tokens = excluded.warning_tokens;

-- name: add_event
INSERT INTO conversation_events (conversation, ordinal, kind, detail, happened_at)
SELECT :id, coalesce(max(ordinal), 0) + 1, :kind, :detail, :now
FROM conversation_events WHERE conversation = :id;

-- name: prune_events
DELETE FROM conversation_events WHERE conversation = :id AND ordinal <=
    (SELECT max(ordinal) FROM conversation_events WHERE conversation = :id) - :kept;

-- name: events
SELECT ordinal, kind, detail, happened_at FROM conversation_events
WHERE conversation = :id ORDER BY ordinal DESC LIMIT :limit;

-- name: describe_agent
UPDATE conversations SET agent_description = :text, updated_at = :now WHERE id = :id;

-- name: describe_project
UPDATE conversations SET project_context = :text, updated_at = :now WHERE id = :id;

-- name: archive
UPDATE conversations SET archived_at = :at WHERE id = :id;

-- name: count_message
UPDATE conversations
SET messages = messages + 1, live_messages = live_messages + 1,
    live_tokens = live_tokens + :tokens, updated_at = :now
WHERE id = :id AND archived_at IS NULL
RETURNING messages;

-- name: add_message
INSERT INTO conversation_messages (conversation, ordinal, role, content, tokens, added_at)
VALUES (:id, :ordinal, :role, :content, :tokens, :now);

-- name: live_messages
SELECT * FROM conversation_messages
WHERE conversation = :id AND compacted_in IS NULL ORDER BY ordinal;

-- name: all_messages
SELECT * FROM conversation_messages WHERE conversation = :id ORDER BY ordinal;

-- name: compact_messages
UPDATE conversation_messages SET compacted_in = :version
WHERE conversation = :id AND compacted_in IS NULL AND ordinal <= :up_to;

-- name: clear_messages
DELETE FROM conversation_messages WHERE conversation = :id AND compacted_in IS NULL;

-- name: count_live
SELECT count(*) AS messages, coalesce(sum(tokens), 0) AS tokens FROM conversation_messages
WHERE conversation = :id AND compacted_in IS NULL;

-- name: set_live
UPDATE conversations
SET live_messages = :messages, live_tokens = :tokens, version = :version, updated_at = :now
WHERE id = :id;

-- name: take_lease
UPDATE conversations SET lease = :lease, leased_until = :until
WHERE id = :id AND (lease = '' OR leased_until < :now);

-- name: release_lease
UPDATE conversations SET lease = '', leased_until = 0 WHERE id = :id AND lease = :lease;

-- name: add_checkpoint
INSERT INTO conversation_checkpoints
    (conversation, version, content, tokens, made_by, messages, tokens_before, tokens_reclaimed,
     made_at)
VALUES (:id, :version, :content, :tokens, :made_by, :messages, :tokens_before,
        :tokens_reclaimed, :now);

-- name: checkpoint
SELECT * FROM conversation_checkpoints WHERE conversation = :id AND version = :version;

-- name: checkpoints
SELECT * FROM conversation_checkpoints WHERE conversation = :id ORDER BY version;

-- The newest first, without their content.
-- name: checkpoint_versions
SELECT version, tokens, made_by, messages, tokens_before, tokens_reclaimed, made_at
FROM conversation_checkpoints
WHERE conversation = :id AND version < :before ORDER BY version DESC LIMIT :limit;

-- name: compaction_totals
SELECT count(*) AS compactions, coalesce(sum(messages), 0) AS messages,
       coalesce(sum(tokens_reclaimed), 0) AS tokens_reclaimed
FROM conversation_checkpoints WHERE conversation = :id AND messages > 0;

-- name: reserve_spend
INSERT INTO spend
    (id, session, feature, day, model, input_tokens, output_tokens, micros, settled, spent_at)
VALUES (:id, :session, :feature, :day, :model, 0, 0, :micros, 0, :now);

-- name: settle_spend
UPDATE spend
SET input_tokens = :input_tokens, output_tokens = :output_tokens, micros = :micros, settled = 1
WHERE id = :id;

-- name: spent
SELECT coalesce(sum(CASE WHEN day = :day THEN micros ELSE 0 END), 0) AS today,
       coalesce(sum(CASE WHEN session = :session THEN micros ELSE 0 END), 0) AS in_session
FROM spend WHERE day = :day OR session = :session;

-- name: spent_by_conversation
SELECT coalesce(sum(micros), 0) AS micros FROM spend
WHERE session = :session AND feature = :feature;

-- name: spend_table
SELECT day, session, feature, model, count(*) AS calls, sum(input_tokens) AS input_tokens,
       sum(output_tokens) AS output_tokens, sum(micros) AS micros
FROM spend GROUP BY day, session, feature, model ORDER BY day DESC, session, feature, model;

-- The costs of one conversation, the latest first.
-- name: conversation_spend
SELECT day, session, feature, model, count(*) AS calls, sum(input_tokens) AS input_tokens,
       sum(output_tokens) AS output_tokens, sum(micros) AS micros
FROM spend WHERE session = :session AND feature = :feature
GROUP BY day, model ORDER BY day DESC, model LIMIT :limit;
