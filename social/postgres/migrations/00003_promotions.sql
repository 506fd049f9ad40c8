-- +goose Up

CREATE TABLE promotions (
	id text COLLATE "C" PRIMARY KEY, item text COLLATE "C" NOT NULL,
	starts bigint NOT NULL, ends bigint NOT NULL, -- Unix seconds
	weight double precision NOT NULL,
	tags text[] NOT NULL, langs text[] NOT NULL
);
CREATE INDEX promotions_by_end ON promotions (ends);
