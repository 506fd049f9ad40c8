-- +goose NO TRANSACTION
-- +goose Up

-- What an agent has liked is listed by the time of the like.
CREATE INDEX IF NOT EXISTS likes_by_time ON likes (agent, at DESC, post DESC);
