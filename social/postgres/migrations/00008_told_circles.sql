-- +goose NO TRANSACTION
-- +goose Up

-- told is true if an event created the circle. Members' posts that events report can be
-- addressed only to such groups.
ALTER TABLE circles ADD COLUMN IF NOT EXISTS told boolean NOT NULL DEFAULT false;
