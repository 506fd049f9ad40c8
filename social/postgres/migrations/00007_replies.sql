-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent.

-- A reply is a post with a root: the post at the top of its thread. It is visible to those who see
-- the root, as long as root_life, the stamp at which the root was created, is later than the
-- stamp at which the root was last removed. The reach of a reply is 3 if the root is public,
-- otherwise 4: lists of posts do not contain it, and older servers show it only to its author.
ALTER TABLE posts
	ADD COLUMN IF NOT EXISTS root text COLLATE "C" NOT NULL DEFAULT '',
	ADD COLUMN IF NOT EXISTS root_life bigint NOT NULL DEFAULT 0,
	ADD COLUMN IF NOT EXISTS comments_here bigint NOT NULL DEFAULT 0, -- undeleted replies
	ADD COLUMN IF NOT EXISTS repliers bigint NOT NULL DEFAULT 0; -- number of their authors
CREATE INDEX IF NOT EXISTS posts_by_root ON posts (root, created_at, id) WHERE root <> '' AND gone = 0;
CREATE INDEX IF NOT EXISTS posts_by_replier ON posts (root, author) WHERE root <> '' AND gone = 0;

-- The agents whom replies mention, needed when they are erased. A mention grants no access.
CREATE TABLE IF NOT EXISTS reply_mentions (
	reply text COLLATE "C" NOT NULL, agent text COLLATE "C" NOT NULL,
	PRIMARY KEY (reply, agent)
);
CREATE INDEX IF NOT EXISTS reply_mentions_by_agent ON reply_mentions (agent);

-- From now on also posts that were deleted, whose replies are yet to be removed.
ALTER TABLE revived ADD COLUMN IF NOT EXISTS author text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS revived_by_author ON revived (author);
