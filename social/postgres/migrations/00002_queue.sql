-- +goose Up

-- Times of the queue come from the clock of this database. changed is the time of the last
-- change of a row, which reveals that the clock was set back. worker is the worker that has
-- leased the row.
ALTER TABLE jobs
	ADD COLUMN changed bigint NOT NULL DEFAULT 0,
	ADD COLUMN worker text NOT NULL DEFAULT '';
