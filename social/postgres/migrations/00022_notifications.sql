-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent; see 00005.

-- A row for each act that concerns another agent, written in its transaction. It says only that there was
-- one: whether it still stands, and what the agent may see, is decided at the read. object is the post or the
-- group, post a reply to it. number is that of the agent's inbox after the write.
CREATE TABLE IF NOT EXISTS notifications (agent text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, object text COLLATE "C" NOT NULL,
	actor text COLLATE "C" NOT NULL, post text COLLATE "C" NOT NULL, number bigint NOT NULL, at bigint NOT NULL,
	PRIMARY KEY (agent, kind, object, actor, post));
CREATE INDEX IF NOT EXISTS notifications_by_number ON notifications (agent, number);
CREATE INDEX IF NOT EXISTS notifications_by_actor ON notifications (actor, at);
CREATE INDEX IF NOT EXISTS notifications_by_time ON notifications (at);

-- The number of the last write that has notified an agent, whose row it locks until it is committed: so what
-- has a lower number was committed before. seen is the marker that the agent's devices share.
CREATE TABLE IF NOT EXISTS inboxes (agent text COLLATE "C" PRIMARY KEY, number bigint NOT NULL, seen bigint NOT NULL);
