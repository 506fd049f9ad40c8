-- +goose Up

-- Few authors are pulled. Every page of a timeline asks which of them its reader
-- follows: by this index it looks at those few, not at all whom the reader follows.
CREATE INDEX authors_pulled ON authors (id) WHERE delivery <> 'push';
