-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent; see 00005.

-- When a mute of a circle ends, a stamp; 0 for never, also for mutes that older servers write.
ALTER TABLE mutes ADD COLUMN IF NOT EXISTS until bigint NOT NULL DEFAULT 0;
