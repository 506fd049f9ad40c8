-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent.

-- Joinings and posts of a group have places in one order, so that no server's clock decides what
-- members see. joined is the latest since of a member; posted the latest at of a post made here;
-- reported the latest time of a post that an event reported; lag the most seconds by which the at of
-- a post is later than its created_at. Members see posts with a later at than their since.
ALTER TABLE circles
	ADD COLUMN IF NOT EXISTS joined bigint NOT NULL DEFAULT 0,
	ADD COLUMN IF NOT EXISTS posted bigint NOT NULL DEFAULT 0,
	ADD COLUMN IF NOT EXISTS reported bigint NOT NULL DEFAULT 0,
	ADD COLUMN IF NOT EXISTS lag bigint NOT NULL DEFAULT 0; -- seconds
ALTER TABLE post_circles ADD COLUMN IF NOT EXISTS at bigint NOT NULL DEFAULT 0;

-- life tells apart the agents who have had an id: the erased_agent of the id at that time, or -1 if
-- the mention counts for nobody. Mentions that older servers write count for an id that was never
-- erased, and for nobody if it was.
ALTER TABLE post_mentions ADD COLUMN IF NOT EXISTS life bigint NOT NULL DEFAULT 0;
ALTER TABLE reply_mentions ADD COLUMN IF NOT EXISTS life bigint NOT NULL DEFAULT 0;

-- Older servers write no places. These triggers order what they write: their posts get their times as
-- places, and nobody who joins later sees them; who joins at an older server sees no post from before.
-- Rows of this version are in order already.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION freshet_place_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.at = coalesce((SELECT least(p.created, p.created_at * 1000000 + 999999) FROM posts p WHERE p.id = NEW.post), 1);
	UPDATE circles SET posted = greatest(posted, NEW.at), reported = greatest(reported, NEW.at)
		WHERE id = NEW.circle AND kind <> 'circle' AND history <> 'all';
	RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION freshet_place_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE circles SET joined = greatest(joined, NEW.since, posted + 1) WHERE id = NEW.circle AND joined < NEW.since;
	UPDATE members m SET since = c.posted + 1 FROM circles c
		WHERE m.circle = NEW.circle AND m.agent = NEW.agent AND c.id = m.circle AND m.agent <> c.owner AND m.since <= c.posted;
	RETURN NULL;
END $$;
-- +goose StatementEnd

DROP TRIGGER IF EXISTS post_circles_placed ON post_circles;
CREATE TRIGGER post_circles_placed BEFORE INSERT ON post_circles FOR EACH ROW WHEN (NEW.at = 0) EXECUTE FUNCTION freshet_place_post();
DROP TRIGGER IF EXISTS members_placed ON members;
CREATE TRIGGER members_placed AFTER INSERT ON members FOR EACH ROW WHEN (NEW.since > 1 AND NEW.gone = 0) EXECUTE FUNCTION freshet_place_member();
DROP TRIGGER IF EXISTS members_placed_again ON members;
CREATE TRIGGER members_placed_again AFTER UPDATE OF since ON members FOR EACH ROW
	WHEN (NEW.since > 1 AND NEW.gone = 0 AND NEW.since <> OLD.since) EXECUTE FUNCTION freshet_place_member();

-- The rows from before. The places of posts are what was compared with since.
UPDATE post_circles pc SET at = least(p.created, p.created_at * 1000000 + 999999) FROM posts p, circles c
	WHERE p.id = pc.post AND c.id = pc.circle AND c.kind <> 'circle' AND pc.at = 0;
UPDATE circles c SET joined = greatest(joined, coalesce((SELECT max(m.since) FROM members m WHERE m.circle = c.id), 0)),
	posted = greatest(posted, coalesce((SELECT max(pc.at) FROM post_circles pc WHERE pc.circle = c.id), 0)),
	reported = greatest(reported, coalesce((SELECT max(pc.at) FROM post_circles pc WHERE pc.circle = c.id), 0))
	WHERE c.kind <> 'circle' AND c.history <> 'all';
UPDATE post_mentions m SET life = a.erased_agent FROM authors a, posts p
	WHERE a.id = m.agent AND a.erased_agent > 0 AND p.id = m.post AND p.created > a.erased_agent AND m.life = 0;
UPDATE reply_mentions m SET life = a.erased_agent FROM authors a, posts p
	WHERE a.id = m.agent AND a.erased_agent > 0 AND p.id = m.reply AND p.created > a.erased_agent AND m.life = 0;
