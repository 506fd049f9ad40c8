-- +goose Up

-- What was given to a post or a circle ends with it, also where its id is used again. An
-- incarnation is the stamp at which the life began that something was given to: it holds
-- while it is later than the stamp at which its target was last removed. 1 stands for what
-- was given before there were incarnations.
ALTER TABLE likes ADD COLUMN incarnation bigint NOT NULL DEFAULT 1;
ALTER TABLE post_circles ADD COLUMN incarnation bigint NOT NULL DEFAULT 1;
ALTER TABLE members ADD COLUMN incarnation bigint NOT NULL DEFAULT 1;
UPDATE likes l SET incarnation = p.created FROM posts p WHERE p.id = l.post AND p.deleted > 0 AND p.gone = 0;
UPDATE post_circles pc SET incarnation = p.created FROM posts p, circles c
	WHERE p.id = pc.post AND c.id = pc.circle AND c.dropped > 0 AND c.gone = 0;

ALTER TABLE posts ADD COLUMN here bigint NOT NULL DEFAULT 0; -- see social.Times

-- Posts that were made again: likes of before are still to be removed.
CREATE TABLE revived (post text COLLATE "C" PRIMARY KEY);

-- What promotes a post ends with it.
CREATE INDEX promotions_by_item ON promotions (item);

-- That an agent was erased is not forgotten: it ends what still refers to the id.
DROP INDEX authors_erased;
CREATE INDEX authors_erased ON authors (erased) WHERE erased > 0 AND erased_agent = 0;
