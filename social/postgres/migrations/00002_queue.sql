-- +goose Up

-- Times of the queue are by this database's clock. changed is when a row was changed last,
-- so that a clock that has gone back is noticed; worker is whom it is leased to.
ALTER TABLE jobs
	ADD COLUMN changed bigint NOT NULL DEFAULT 0,
	ADD COLUMN worker text NOT NULL DEFAULT '';
