-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent; see 00005.

-- When a post arrived, by this database's clock; 0 for posts of before. The default is for posts that
-- older servers write. See social.LatePost.
ALTER TABLE posts ADD COLUMN IF NOT EXISTS arrived bigint NOT NULL DEFAULT 0;
ALTER TABLE posts ALTER COLUMN arrived SET DEFAULT (extract(epoch FROM statement_timestamp()) * 1000000)::bigint;
CREATE INDEX IF NOT EXISTS posts_late ON posts (arrived) WHERE gone = 0 AND root = ''
	AND created_at < arrived / 1000000 - 60 AND created_at >= arrived / 1000000 - 86400;
