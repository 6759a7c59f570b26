-- Whether the agent that a message names has read it. Receipts say so already; this finds what is
-- left without going through all that was ever read. It is kept here, however a receipt arrives.
ALTER TABLE messages ADD COLUMN taken INTEGER NOT NULL DEFAULT 0;
UPDATE messages SET taken = 1 WHERE EXISTS (
    SELECT 1 FROM message_reads
    WHERE message_reads.message = messages.id AND message_reads.agent_id = messages.to_agent_id
);
CREATE INDEX messages_waiting ON messages (to_agent_id) WHERE taken = 0;
CREATE TRIGGER message_is_read AFTER INSERT ON message_reads BEGIN
    UPDATE messages SET taken = 1 WHERE id = NEW.message AND to_agent_id = NEW.agent_id;
END;
CREATE TRIGGER message_is_for_another AFTER UPDATE OF to_agent_id ON messages
WHEN NEW.to_agent_id <> OLD.to_agent_id BEGIN
    UPDATE messages SET taken = 0 WHERE id = NEW.id;
END;
