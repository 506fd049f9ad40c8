-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent.

-- An author's replies under one post, also newest or oldest first.
CREATE INDEX IF NOT EXISTS posts_of_replier ON posts (root, author, created_at, id) WHERE root <> '' AND gone = 0;
DROP INDEX IF EXISTS posts_by_replier;
