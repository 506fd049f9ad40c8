-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a transaction of its own: servers of before go on meanwhile, and the
-- locks of several tables, held until the end, would wait for theirs in a circle. So each
-- may be made again.

-- What was given to a post or a circle ends with it, also where its id is used again. An
-- incarnation is the stamp at which the life began that something was given to: it holds
-- while it is later than the stamp at which its target was last removed. 1 stands for what
-- was given before there were incarnations. What servers of before give later is given to
-- what there is by then, so that is the default from then on.
ALTER TABLE likes ADD COLUMN IF NOT EXISTS incarnation bigint NOT NULL DEFAULT 1;
ALTER TABLE likes ALTER COLUMN incarnation SET DEFAULT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
ALTER TABLE post_circles ADD COLUMN IF NOT EXISTS incarnation bigint NOT NULL DEFAULT 1;
ALTER TABLE post_circles ALTER COLUMN incarnation SET DEFAULT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
ALTER TABLE members ADD COLUMN IF NOT EXISTS incarnation bigint NOT NULL DEFAULT 1;
ALTER TABLE members ALTER COLUMN incarnation SET DEFAULT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
UPDATE likes l SET incarnation = p.created FROM posts p WHERE p.id = l.post AND p.deleted > 0 AND p.gone = 0 AND l.incarnation = 1;
UPDATE post_circles pc SET incarnation = p.created FROM posts p, circles c
	WHERE p.id = pc.post AND c.id = pc.circle AND c.dropped > 0 AND c.gone = 0 AND pc.incarnation = 1;

ALTER TABLE posts ADD COLUMN IF NOT EXISTS here bigint NOT NULL DEFAULT 0; -- see social.Times

-- Posts that were made again: likes of before are still to be removed.
CREATE TABLE IF NOT EXISTS revived (post text COLLATE "C" PRIMARY KEY);

-- What promotes a post ends with it.
CREATE INDEX IF NOT EXISTS promotions_by_item ON promotions (item);

-- That an agent was erased is not forgotten: it ends what still refers to the id.
DROP INDEX IF EXISTS authors_erased;
CREATE INDEX authors_erased ON authors (erased) WHERE erased > 0 AND erased_agent = 0;
