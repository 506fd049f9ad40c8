-- +goose Up

-- What all servers over this database must agree in.
CREATE TABLE freshet_settings (name text COLLATE "C" PRIMARY KEY, value text NOT NULL);
