-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a transaction of its own, and may be made again.

-- A reply is a post with a root, the post that it stands under: it is seen by who sees that,
-- as long as root_life, the stamp at which the life of the root began, is later than the
-- stamp at which that was last removed. The reach of a reply is 3 under what is public,
-- 4 under the rest: no list of posts has it, and servers of before show it to its author.
ALTER TABLE posts
	ADD COLUMN IF NOT EXISTS root text COLLATE "C" NOT NULL DEFAULT '',
	ADD COLUMN IF NOT EXISTS root_life bigint NOT NULL DEFAULT 0,
	ADD COLUMN IF NOT EXISTS comments_here bigint NOT NULL DEFAULT 0, -- undeleted replies
	ADD COLUMN IF NOT EXISTS repliers bigint NOT NULL DEFAULT 0; -- who wrote them
CREATE INDEX IF NOT EXISTS posts_by_root ON posts (root, created_at, id) WHERE root <> '' AND gone = 0;
CREATE INDEX IF NOT EXISTS posts_by_replier ON posts (root, author) WHERE root <> '' AND gone = 0;

-- Whom replies mention, for the day these are erased: it grants nothing.
CREATE TABLE IF NOT EXISTS reply_mentions (
	reply text COLLATE "C" NOT NULL, agent text COLLATE "C" NOT NULL,
	PRIMARY KEY (reply, agent)
);
CREATE INDEX IF NOT EXISTS reply_mentions_by_agent ON reply_mentions (agent);

-- Posts that were deleted, too: their replies are still to be removed.
ALTER TABLE revived ADD COLUMN IF NOT EXISTS author text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS revived_by_author ON revived (author);
