-- +goose Up

-- The number of an author's existing posts by audience, so that reading a card does not count
-- rows. Triggers maintain it, so changes by older servers are counted, too. Posts published
-- before an erasure are not counted once the erasure has committed.
CREATE TABLE post_counts (
	author text COLLATE "C" PRIMARY KEY,
	public bigint NOT NULL, -- visible to everybody
	followers bigint NOT NULL, -- visible to followers and to those whom it addresses
	own bigint NOT NULL -- created here and not public: only the author sees all of them
) WITH (fillfactor = 50);

-- Lock the row of counts before reading the stamp of the erasure: an erasure that commits in
-- between has deleted that row.
-- +goose StatementBegin
CREATE FUNCTION freshet_count_posts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP <> 'INSERT' AND OLD.gone = 0 THEN
		PERFORM 1 FROM post_counts WHERE author = OLD.author FOR UPDATE;
		IF OLD.created > coalesce((SELECT erased FROM authors WHERE id = OLD.author), 0) THEN
			UPDATE post_counts SET public = public - (OLD.reach = 2)::int, followers = followers - (OLD.reach = 1)::int,
				own = own - (OLD.reach < 2 AND OLD.origin = '')::int WHERE author = OLD.author;
		END IF;
	END IF;
	IF TG_OP <> 'DELETE' AND NEW.gone = 0 AND NEW.created > coalesce((SELECT erased FROM authors WHERE id = NEW.author), 0) THEN
		INSERT INTO post_counts AS c (author, public, followers, own)
			VALUES (NEW.author, (NEW.reach = 2)::int, (NEW.reach = 1)::int, (NEW.reach < 2 AND NEW.origin = '')::int)
			ON CONFLICT (author) DO UPDATE SET public = c.public + excluded.public,
			followers = c.followers + excluded.followers, own = c.own + excluded.own;
	END IF;
	RETURN NULL;
END $$;

CREATE FUNCTION freshet_forget_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM post_counts WHERE author = NEW.id;
	RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER posts_counted AFTER INSERT OR DELETE ON posts FOR EACH ROW EXECUTE FUNCTION freshet_count_posts();
CREATE TRIGGER posts_recounted AFTER UPDATE OF author, reach, origin, created, gone ON posts FOR EACH ROW
	WHEN ((OLD.author, OLD.reach, OLD.origin, OLD.created, OLD.gone) IS DISTINCT FROM (NEW.author, NEW.reach, NEW.origin, NEW.created, NEW.gone))
	EXECUTE FUNCTION freshet_count_posts();
CREATE TRIGGER authors_erased_counts AFTER UPDATE OF erased ON authors FOR EACH ROW
	WHEN (OLD.erased <> NEW.erased) EXECUTE FUNCTION freshet_forget_counts();

INSERT INTO post_counts (author, public, followers, own)
	SELECT p.author, count(*) FILTER (WHERE p.reach = 2), count(*) FILTER (WHERE p.reach = 1), count(*) FILTER (WHERE p.reach < 2 AND p.origin = '')
	FROM posts p LEFT JOIN authors a ON a.id = p.author
	WHERE p.gone = 0 AND p.created > coalesce(a.erased, 0) GROUP BY p.author;

-- Posts of an author are read by audience, so that those that the reader may not see are not
-- scanned. Mentions of an agent can also be found by author.
DROP INDEX posts_by_author;
CREATE INDEX posts_by_author ON posts (author, reach, created_at DESC, id DESC) WHERE gone = 0;
CREATE INDEX post_mentions_by_author ON post_mentions (agent, author, created_at DESC, post DESC);
