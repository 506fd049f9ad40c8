-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction: older servers continue to run meanwhile, and the
-- locks of several tables, held until the end, could deadlock with theirs. Therefore each
-- statement is idempotent.

-- Likes of a post, its addressing of a circle, and members of a circle end with their target,
-- even if its id is used again. incarnation is the stamp at which the target was created that
-- the row refers to. The row is valid while incarnation is later than the stamp at which the
-- target was last removed. 1 marks rows from before this column existed. Rows that older
-- servers write later refer to the target that exists at that time, so the default is then
-- the current time.
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

-- Posts that were created again after a deletion; their earlier likes are yet to be removed.
CREATE TABLE IF NOT EXISTS revived (post text COLLATE "C" PRIMARY KEY);

-- To find the promotions of a post, which end with it.
CREATE INDEX IF NOT EXISTS promotions_by_item ON promotions (item);

-- Erasures of agents are retained, because they invalidate rows that still refer to the id.
DROP INDEX IF EXISTS authors_erased;
CREATE INDEX authors_erased ON authors (erased) WHERE erased > 0 AND erased_agent = 0;
