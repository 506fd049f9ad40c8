-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent; see 00005.

-- An agent is not invited again for a while by an owner whom they refused: to any group if the
-- circle is '', else to one that they left.
CREATE TABLE IF NOT EXISTS refusals (
	agent text COLLATE "C" NOT NULL, owner text COLLATE "C" NOT NULL, circle text COLLATE "C" NOT NULL, at bigint NOT NULL,
	PRIMARY KEY (agent, owner, circle)
);
CREATE INDEX IF NOT EXISTS refusals_by_owner ON refusals (owner);
CREATE INDEX IF NOT EXISTS refusals_by_time ON refusals (at);

-- A mute is of a group, or of an owner's invitations: see social.MuteKind.
CREATE TABLE IF NOT EXISTS mutes (
	agent text COLLATE "C" NOT NULL, kind text NOT NULL, id text COLLATE "C" NOT NULL,
	PRIMARY KEY (agent, kind, id)
);

-- When a membership began, if it is known: the member who has been in a group longest inherits it.
ALTER TABLE members ADD COLUMN IF NOT EXISTS joined bigint NOT NULL DEFAULT 0;
