-- +goose NO TRANSACTION
-- +goose Up

-- Servers read who was erased lately, so that they refuse tokens from before that.
CREATE INDEX IF NOT EXISTS authors_erased_agents ON authors (erased_agent, id) WHERE erased_agent > 0;
