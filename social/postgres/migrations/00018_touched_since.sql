-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent; see 00005.

-- What transactions have touched that a snapshot does not see, at most a number of entries: see memo.go.
-- The table is often empty, and then grows by thousands of rows a minute: a plan from before, which reads
-- all of it, would be used until it is analyzed. So none may be chosen that does.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION freshet_touched_since(since pg_snapshot, most int) RETURNS text[] LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
	first xid8 := pg_snapshot_xmax(since);
	after xid8 := pg_snapshot_xmax(pg_current_snapshot());
BEGIN
	RETURN ARRAY(SELECT DISTINCT t.kind::text || t.key FROM (
		SELECT kind, key FROM touched WHERE xid >= first AND xid < after
		UNION ALL SELECT own.kind, own.key FROM pg_snapshot_xip(since) x (xid)
			CROSS JOIN LATERAL (SELECT kind, key FROM touched WHERE touched.xid = x.xid OFFSET 0) own) t LIMIT most);
END $$;
-- +goose StatementEnd
