-- Under which key a caller told of a row, and a hash of the words that came with it: who asks again
-- because no answer came gets the same row. Of the key too only a hash is kept.
ALTER TABLE requests ADD COLUMN retry TEXT;
ALTER TABLE requests ADD COLUMN retry_words TEXT;
CREATE INDEX requests_by_retry ON requests (session, retry) WHERE retry IS NOT NULL;
ALTER TABLE tasks ADD COLUMN retry TEXT;
ALTER TABLE tasks ADD COLUMN retry_words TEXT;
CREATE INDEX tasks_by_retry ON tasks (session, retry) WHERE retry IS NOT NULL;
ALTER TABLE subtasks ADD COLUMN retry TEXT;
ALTER TABLE subtasks ADD COLUMN retry_words TEXT;
CREATE INDEX subtasks_by_retry ON subtasks (session, retry) WHERE retry IS NOT NULL;
