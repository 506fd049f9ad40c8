-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent; see 00005.

-- Until when an agent is suspended, a stamp, and why. Servers hold the time in memory with the author's card.
ALTER TABLE authors
	ADD COLUMN IF NOT EXISTS suspended_until bigint NOT NULL DEFAULT 0,
	ADD COLUMN IF NOT EXISTS suspended_for text NOT NULL DEFAULT '';
DROP TRIGGER IF EXISTS authors_touched_suspended ON authors;
CREATE TRIGGER authors_touched_suspended AFTER UPDATE OF suspended_until ON authors FOR EACH ROW
	WHEN (OLD.suspended_until <> NEW.suspended_until) EXECUTE FUNCTION freshet_touch_author();

-- Posts that moderators hold (1) or have removed (2), and what restores them: the columns removed and reach of
-- before, and the circles that the post addressed. While a post is here, it addresses nobody, and its removed is 2.
CREATE TABLE IF NOT EXISTS moderated (post text COLLATE "C" PRIMARY KEY, state smallint NOT NULL, removed smallint NOT NULL, reach smallint NOT NULL);
CREATE TABLE IF NOT EXISTS moderated_circles (post text COLLATE "C" NOT NULL, circle text COLLATE "C" NOT NULL, author text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL, incarnation bigint NOT NULL, at bigint NOT NULL, own boolean NOT NULL, PRIMARY KEY (post, circle));
CREATE INDEX IF NOT EXISTS moderated_circles_by_circle ON moderated_circles (circle);

-- What agents report, and for each object how many have, when the last one did, and what was decided.
CREATE TABLE IF NOT EXISTS reports (kind text COLLATE "C" NOT NULL, object text COLLATE "C" NOT NULL, agent text COLLATE "C" NOT NULL,
	reason text COLLATE "C" NOT NULL, details text NOT NULL, at bigint NOT NULL, PRIMARY KEY (kind, object, agent));
CREATE INDEX IF NOT EXISTS reports_by_agent ON reports (agent, at);
CREATE TABLE IF NOT EXISTS reported (kind text COLLATE "C" NOT NULL, object text COLLATE "C" NOT NULL, open boolean NOT NULL,
	latest bigint NOT NULL, decision text NOT NULL, decided bigint NOT NULL, PRIMARY KEY (kind, object));
CREATE INDEX IF NOT EXISTS reported_by_latest ON reported (open, latest, kind, object);

-- What moderators have done and read; kept for ever.
CREATE TABLE IF NOT EXISTS audit (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, who text NOT NULL, action text NOT NULL,
	kind text COLLATE "C" NOT NULL, object text COLLATE "C" NOT NULL, reason text NOT NULL);
CREATE INDEX IF NOT EXISTS audit_by_object ON audit (kind, object);
