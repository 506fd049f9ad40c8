-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent.

-- Whether an agent's follows may be a reason for suggestions: 1 yes, -1 no, 0 depends on the
-- agent's posts. Suggestions made by the earlier rule are dropped.
ALTER TABLE authors ADD COLUMN IF NOT EXISTS suggest_from_follows smallint NOT NULL DEFAULT 0;
DELETE FROM suggestions;

-- Authors who have public posts. since is the time of the first of these, in Unix seconds.
-- Triggers maintain the table, so changes by older servers are noticed, too.
CREATE TABLE IF NOT EXISTS public_authors (author text COLLATE "C" PRIMARY KEY, since bigint NOT NULL);
CREATE INDEX IF NOT EXISTS public_authors_by_time ON public_authors (since DESC, author);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION freshet_note_public() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP <> 'DELETE' AND NEW.public > 0 THEN
		INSERT INTO public_authors (author, since)
			SELECT NEW.author, coalesce(max(created_at), 0) FROM posts WHERE author = NEW.author AND reach = 2 AND gone = 0
			ON CONFLICT DO NOTHING;
	ELSE
		DELETE FROM public_authors WHERE author = OLD.author;
	END IF;
	RETURN NULL;
END $$;
-- +goose StatementEnd

DROP TRIGGER IF EXISTS authors_public_first ON post_counts;
CREATE TRIGGER authors_public_first AFTER INSERT ON post_counts FOR EACH ROW
	WHEN (NEW.public > 0) EXECUTE FUNCTION freshet_note_public();
DROP TRIGGER IF EXISTS authors_public ON post_counts;
CREATE TRIGGER authors_public AFTER UPDATE OF public ON post_counts FOR EACH ROW
	WHEN ((OLD.public > 0) <> (NEW.public > 0)) EXECUTE FUNCTION freshet_note_public();
DROP TRIGGER IF EXISTS authors_uncounted ON post_counts;
CREATE TRIGGER authors_uncounted AFTER DELETE ON post_counts FOR EACH ROW
	WHEN (OLD.public > 0) EXECUTE FUNCTION freshet_note_public();

INSERT INTO public_authors (author, since)
	SELECT c.author, coalesce((SELECT min(p.created_at) FROM posts p WHERE p.author = c.author AND p.reach = 2 AND p.gone = 0
		AND p.created > coalesce((SELECT a.erased FROM authors a WHERE a.id = c.author), 0)), 0)
	FROM post_counts c WHERE c.public > 0 ON CONFLICT DO NOTHING;
