-- +goose NO TRANSACTION
-- +goose Up

-- Whether an event has made the circle: members' posts that events tell of reach such groups
-- alone.
ALTER TABLE circles ADD COLUMN IF NOT EXISTS told boolean NOT NULL DEFAULT false;
