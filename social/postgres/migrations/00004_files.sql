-- +goose Up

CREATE TABLE files (
	key text COLLATE "C" PRIMARY KEY, post text COLLATE "C" NOT NULL,
	state smallint NOT NULL -- reserved, used, loose: social.FileReserved and so on
);
CREATE INDEX files_by_post ON files (post);
