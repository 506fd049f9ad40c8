-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent; see 00005.

-- Whether an author does not want to be recommended to strangers. Servers hold it in memory with the author's card.
ALTER TABLE authors ADD COLUMN IF NOT EXISTS not_recommended boolean NOT NULL DEFAULT false;
DROP TRIGGER IF EXISTS authors_touched_recommended ON authors;
CREATE TRIGGER authors_touched_recommended AFTER UPDATE OF not_recommended ON authors FOR EACH ROW
	WHEN (OLD.not_recommended <> NEW.not_recommended) EXECUTE FUNCTION freshet_touch_author();
