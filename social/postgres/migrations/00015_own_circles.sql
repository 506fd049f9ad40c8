-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent; see 00005.

-- own means that the circle is a plain circle of the post's author. The id of a circle may belong to
-- somebody else later.
ALTER TABLE post_circles ADD COLUMN IF NOT EXISTS own boolean NOT NULL DEFAULT false;

-- Rows that older servers write; see 00013.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION freshet_place_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.at = coalesce((SELECT least(p.created, p.created_at * 1000000 + 999999) FROM posts p WHERE p.id = NEW.post), 1);
	NEW.own = EXISTS (SELECT 1 FROM circles c WHERE c.id = NEW.circle AND c.owner = NEW.author AND c.kind = 'circle' AND c.gone = 0 AND c.dropped < NEW.incarnation);
	UPDATE circles SET posted = greatest(posted, NEW.at), reported = greatest(reported, NEW.at)
		WHERE id = NEW.circle AND kind <> 'circle' AND history <> 'all';
	RETURN NEW;
END $$;
-- +goose StatementEnd

UPDATE post_circles pc SET own = true FROM circles c
	WHERE c.id = pc.circle AND c.owner = pc.author AND c.kind = 'circle' AND (c.gone > 0 OR c.dropped < pc.incarnation) AND NOT pc.own;
