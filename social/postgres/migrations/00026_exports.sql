-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent; see 00005.

-- What each agent has asked for; the agent is '' once the file is to be removed. parts is how many parts of the file
-- may be stored. Times are Unix seconds.
CREATE TABLE IF NOT EXISTS exports (name text COLLATE "C" PRIMARY KEY, agent text COLLATE "C" NOT NULL, state text NOT NULL, parts int NOT NULL,
	bytes bigint NOT NULL, sent bigint NOT NULL, asked bigint NOT NULL, until bigint NOT NULL, reason text NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS exports_by_agent ON exports (agent) WHERE agent <> '';

-- The parts of files, if servers share no other place for them.
CREATE TABLE IF NOT EXISTS export_parts (name text COLLATE "C" NOT NULL, part int NOT NULL, data bytea NOT NULL, PRIMARY KEY (name, part));
ALTER TABLE export_parts ALTER COLUMN data SET STORAGE EXTERNAL;
