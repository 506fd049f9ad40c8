-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent; see 00005.

-- Groups and events are circles that are visible to their members; see social.CircleTerms. A
-- member sees posts created after since, which is 0 only in plain circles.
ALTER TABLE circles ADD COLUMN IF NOT EXISTS kind text NOT NULL DEFAULT 'circle',
	ADD COLUMN IF NOT EXISTS post text NOT NULL DEFAULT '',
	ADD COLUMN IF NOT EXISTS history text NOT NULL DEFAULT '',
	ADD COLUMN IF NOT EXISTS members_visible_to text NOT NULL DEFAULT '',
	ADD COLUMN IF NOT EXISTS until bigint NOT NULL DEFAULT 0; -- Unix seconds
ALTER TABLE members ADD COLUMN IF NOT EXISTS since bigint NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS members_joined ON members (agent, circle) WHERE gone = 0 AND since > 0;
CREATE INDEX IF NOT EXISTS post_circles_by_author ON post_circles (author, circle, created_at DESC, post DESC);
CREATE TABLE IF NOT EXISTS invitations (
	circle text COLLATE "C" NOT NULL, agent text COLLATE "C" NOT NULL, at bigint NOT NULL,
	PRIMARY KEY (circle, agent)
);
CREATE INDEX IF NOT EXISTS invitations_by_agent ON invitations (agent, circle);

-- Replace incarnations of 1 by that of the current target, or for a post's unknown circle by 0, so
-- that an earlier removal that is reported late does not affect rows of the current target.
UPDATE likes l SET incarnation = p.created FROM posts p WHERE p.id = l.post AND p.gone = 0 AND l.incarnation = 1;
UPDATE members m SET incarnation = c.put FROM circles c WHERE c.id = m.circle AND c.gone = 0 AND m.incarnation = 1;
UPDATE post_circles pc SET incarnation = p.created FROM posts p, circles c
	WHERE p.id = pc.post AND c.id = pc.circle AND c.gone = 0 AND pc.incarnation = 1;
UPDATE post_circles pc SET incarnation = 0 WHERE incarnation = 1 AND NOT EXISTS (SELECT 1 FROM circles c WHERE c.id = pc.circle);
