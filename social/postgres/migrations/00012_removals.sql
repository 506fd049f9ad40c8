-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent.

-- Posts that were removed from groups, and replies that were removed from threads, by others than
-- their authors: see social.Posts. removed is 0 for no removal, 1 for one from some groups, and 2 if
-- only its author sees it. reply_at is the stamp of the last edit of reply.
ALTER TABLE posts
	ADD COLUMN IF NOT EXISTS removed smallint NOT NULL DEFAULT 0,
	ADD COLUMN IF NOT EXISTS reply_at bigint NOT NULL DEFAULT 0;
CREATE TABLE IF NOT EXISTS removals (
	post text COLLATE "C" NOT NULL,
	circle text COLLATE "C" NOT NULL, -- '': a reply from its thread
	removed_by text NOT NULL,
	agent text COLLATE "C" NOT NULL, -- '' for an admin, or if the agent was erased
	reason text NOT NULL,
	at bigint NOT NULL,
	incarnation bigint NOT NULL, -- of the circle: its put
	PRIMARY KEY (post, circle)
);
CREATE INDEX IF NOT EXISTS removals_by_agent ON removals (agent) WHERE agent <> '';
