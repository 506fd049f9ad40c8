-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent.

-- Authors suggested to an agent, computed at a stamp; see social.Suggestions.
CREATE TABLE IF NOT EXISTS suggestions (
	agent text COLLATE "C" PRIMARY KEY,
	at bigint NOT NULL,
	content text NOT NULL -- JSON
);
CREATE INDEX IF NOT EXISTS suggestions_by_time ON suggestions (at);
