-- +goose Up

-- Settings that must be the same on all servers that use this database.
CREATE TABLE freshet_settings (name text COLLATE "C" PRIMARY KEY, value text NOT NULL);
