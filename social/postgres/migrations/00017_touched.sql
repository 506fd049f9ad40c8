-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent; see 00005.

-- What transactions have touched of the data that servers hold in memory, so that each server can
-- evict it: see memo.go. kind and key are those of sqlstore.Touched. Rows are removed after a few
-- minutes. A crash of the database empties the tables, which touched_state tells: its row is then
-- missing, and the next one has another epoch.
CREATE UNLOGGED TABLE IF NOT EXISTS touched (xid xid8 NOT NULL, kind smallint NOT NULL, key text COLLATE "C" NOT NULL);
CREATE INDEX IF NOT EXISTS touched_by_xid ON touched (xid);
CREATE UNLOGGED TABLE IF NOT EXISTS touched_state (one boolean PRIMARY KEY, epoch text NOT NULL,
	trimmed xid8 NOT NULL); -- rows of earlier transactions may have been removed

-- Triggers note it, so changes by older servers are noticed, too. The first argument is the kind.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION freshet_touch_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO touched (xid, kind, key) SELECT pg_current_xact_id(), TG_ARGV[0]::smallint, id FROM rows;
	RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION freshet_touch_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO touched (xid, kind, key) SELECT DISTINCT pg_current_xact_id(), TG_ARGV[0]::smallint, post FROM rows;
	RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION freshet_touch_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO touched (xid, kind, key) SELECT DISTINCT pg_current_xact_id(), TG_ARGV[0]::smallint, agent FROM rows;
	RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION freshet_touch_both() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO touched (xid, kind, key)
		SELECT pg_current_xact_id(), TG_ARGV[0]::smallint, agent FROM rows UNION SELECT pg_current_xact_id(), TG_ARGV[0]::smallint, other FROM rows;
	RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION freshet_touch_circle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO touched (xid, kind, key) VALUES (pg_current_xact_id(), 6, NEW.id);
	RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION freshet_touch_author() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	a authors;
BEGIN
	IF TG_OP = 'DELETE' THEN a = OLD; ELSE a = NEW; END IF;
	INSERT INTO touched (xid, kind, key) VALUES (pg_current_xact_id(), 2, a.id), (pg_current_xact_id(), 3, a.id);
	IF a.erased_agent > 0 AND EXISTS (SELECT 1 FROM circles WHERE owner = a.id AND gone = 0) THEN
		INSERT INTO touched (xid, kind, key) VALUES (pg_current_xact_id(), 5, '');
	END IF;
	RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION freshet_touch_all() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO touched (xid, kind, key) VALUES (pg_current_xact_id(), TG_ARGV[0]::smallint, '');
	RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION freshet_touch_pair() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO touched (xid, kind, key) VALUES (pg_current_xact_id(), 3, substr(CASE WHEN TG_OP = 'DELETE' THEN OLD.key ELSE NEW.key END, 3));
	RETURN NULL;
END $$;
-- +goose StatementEnd

-- A new post needs none: no memory holds that a post does not exist.
DROP TRIGGER IF EXISTS posts_touched_update ON posts;
CREATE TRIGGER posts_touched_update AFTER UPDATE ON posts REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_id(1);
DROP TRIGGER IF EXISTS posts_touched_delete ON posts;
CREATE TRIGGER posts_touched_delete AFTER DELETE ON posts REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_id(1);
DROP TRIGGER IF EXISTS post_circles_touched_insert ON post_circles;
CREATE TRIGGER post_circles_touched_insert AFTER INSERT ON post_circles REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_post(1);
DROP TRIGGER IF EXISTS post_circles_touched_update ON post_circles;
CREATE TRIGGER post_circles_touched_update AFTER UPDATE ON post_circles REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_post(1);
DROP TRIGGER IF EXISTS post_circles_touched_delete ON post_circles;
CREATE TRIGGER post_circles_touched_delete AFTER DELETE ON post_circles REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_post(1);
DROP TRIGGER IF EXISTS post_mentions_touched_insert ON post_mentions;
CREATE TRIGGER post_mentions_touched_insert AFTER INSERT ON post_mentions REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_post(1);
DROP TRIGGER IF EXISTS post_mentions_touched_update ON post_mentions;
CREATE TRIGGER post_mentions_touched_update AFTER UPDATE ON post_mentions REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_post(1);
DROP TRIGGER IF EXISTS post_mentions_touched_delete ON post_mentions;
CREATE TRIGGER post_mentions_touched_delete AFTER DELETE ON post_mentions REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_post(1);
DROP TRIGGER IF EXISTS removals_touched_insert ON removals;
CREATE TRIGGER removals_touched_insert AFTER INSERT ON removals REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_post(1);
DROP TRIGGER IF EXISTS removals_touched_update ON removals;
CREATE TRIGGER removals_touched_update AFTER UPDATE ON removals REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_post(1);
DROP TRIGGER IF EXISTS removals_touched_delete ON removals;
CREATE TRIGGER removals_touched_delete AFTER DELETE ON removals REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_post(1);
DROP TRIGGER IF EXISTS follows_touched_insert ON follows;
CREATE TRIGGER follows_touched_insert AFTER INSERT ON follows REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_agent(3);
DROP TRIGGER IF EXISTS follows_touched_update ON follows;
CREATE TRIGGER follows_touched_update AFTER UPDATE ON follows REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_agent(3);
DROP TRIGGER IF EXISTS follows_touched_delete ON follows;
CREATE TRIGGER follows_touched_delete AFTER DELETE ON follows REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_agent(3);
DROP TRIGGER IF EXISTS blocks_touched_insert ON blocks;
CREATE TRIGGER blocks_touched_insert AFTER INSERT ON blocks REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_both(3);
DROP TRIGGER IF EXISTS blocks_touched_update ON blocks;
CREATE TRIGGER blocks_touched_update AFTER UPDATE ON blocks REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_both(3);
DROP TRIGGER IF EXISTS blocks_touched_delete ON blocks;
CREATE TRIGGER blocks_touched_delete AFTER DELETE ON blocks REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_both(3);
DROP TRIGGER IF EXISTS members_touched_insert ON members;
CREATE TRIGGER members_touched_insert AFTER INSERT ON members REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_agent(3);
DROP TRIGGER IF EXISTS members_touched_update ON members;
CREATE TRIGGER members_touched_update AFTER UPDATE ON members REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_agent(3);
DROP TRIGGER IF EXISTS members_touched_delete ON members;
CREATE TRIGGER members_touched_delete AFTER DELETE ON members REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_agent(3);
DROP TRIGGER IF EXISTS mutes_touched_insert ON mutes;
CREATE TRIGGER mutes_touched_insert AFTER INSERT ON mutes REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_agent(3);
DROP TRIGGER IF EXISTS mutes_touched_update ON mutes;
CREATE TRIGGER mutes_touched_update AFTER UPDATE ON mutes REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_agent(3);
DROP TRIGGER IF EXISTS mutes_touched_delete ON mutes;
CREATE TRIGGER mutes_touched_delete AFTER DELETE ON mutes REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_agent(3);
DROP TRIGGER IF EXISTS likes_touched_insert ON likes;
CREATE TRIGGER likes_touched_insert AFTER INSERT ON likes REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_agent(4);
DROP TRIGGER IF EXISTS likes_touched_update ON likes;
CREATE TRIGGER likes_touched_update AFTER UPDATE ON likes REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_agent(4);
DROP TRIGGER IF EXISTS likes_touched_delete ON likes;
CREATE TRIGGER likes_touched_delete AFTER DELETE ON likes REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_agent(4);
DROP TRIGGER IF EXISTS circles_touched_insert ON circles;
CREATE TRIGGER circles_touched_insert AFTER INSERT ON circles REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_id(6);
DROP TRIGGER IF EXISTS circles_touched_update ON circles;
CREATE TRIGGER circles_touched_update AFTER UPDATE OF owner, name, kind, put, gone, dropped ON circles FOR EACH ROW
	WHEN ((OLD.owner, OLD.name, OLD.kind, OLD.put, OLD.gone, OLD.dropped) IS DISTINCT FROM (NEW.owner, NEW.name, NEW.kind, NEW.put, NEW.gone, NEW.dropped)) EXECUTE FUNCTION freshet_touch_circle();
DROP TRIGGER IF EXISTS circles_touched_delete ON circles;
CREATE TRIGGER circles_touched_delete AFTER DELETE ON circles REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION freshet_touch_id(6);
DROP TRIGGER IF EXISTS authors_touched_insert ON authors;
CREATE TRIGGER authors_touched_insert AFTER INSERT OR DELETE ON authors FOR EACH ROW EXECUTE FUNCTION freshet_touch_author();
DROP TRIGGER IF EXISTS authors_touched_update ON authors;
CREATE TRIGGER authors_touched_update AFTER UPDATE OF name, image_url, erased, erased_agent ON authors FOR EACH ROW
	WHEN ((OLD.name, OLD.image_url, OLD.erased, OLD.erased_agent) IS DISTINCT FROM (NEW.name, NEW.image_url, NEW.erased, NEW.erased_agent)) EXECUTE FUNCTION freshet_touch_author();
DROP TRIGGER IF EXISTS authors_touched_delivery ON authors;
CREATE TRIGGER authors_touched_delivery AFTER UPDATE OF delivery ON authors FOR EACH ROW
	WHEN (OLD.delivery <> NEW.delivery) EXECUTE FUNCTION freshet_touch_all(7);
DROP TRIGGER IF EXISTS authors_touched_made ON authors;
CREATE TRIGGER authors_touched_made AFTER INSERT ON authors FOR EACH ROW
	WHEN (NEW.delivery <> 'push') EXECUTE FUNCTION freshet_touch_all(7);
DROP TRIGGER IF EXISTS authors_touched_gone ON authors;
CREATE TRIGGER authors_touched_gone AFTER DELETE ON authors FOR EACH ROW
	WHEN (OLD.delivery <> 'push') EXECUTE FUNCTION freshet_touch_all(7);
DROP TRIGGER IF EXISTS jobs_touched_insert ON jobs;
CREATE TRIGGER jobs_touched_insert AFTER INSERT ON jobs FOR EACH ROW
	WHEN (NEW.kind = 'pair' AND NEW.key LIKE '*/%') EXECUTE FUNCTION freshet_touch_pair();
DROP TRIGGER IF EXISTS jobs_touched_delete ON jobs;
CREATE TRIGGER jobs_touched_delete AFTER DELETE ON jobs FOR EACH ROW
	WHEN (OLD.kind = 'pair' AND OLD.key LIKE '*/%') EXECUTE FUNCTION freshet_touch_pair();
DROP TRIGGER IF EXISTS jobs_touched_update ON jobs;
CREATE TRIGGER jobs_touched_update AFTER UPDATE OF state ON jobs FOR EACH ROW
	WHEN (OLD.state <> NEW.state AND NEW.kind = 'pair' AND NEW.key LIKE '*/%') EXECUTE FUNCTION freshet_touch_pair();
