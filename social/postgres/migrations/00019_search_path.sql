-- +goose NO TRANSACTION
-- +goose Up

-- Each statement is a separate transaction and idempotent; see 00005.

-- The functions of triggers find the tables whatever the search_path of the session is: pg_dump and
-- pg_restore empty it, and an administrator's psql may have another one.
-- +goose StatementBegin
DO $$
DECLARE
	home regnamespace := (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('freshet_migrations'));
	f regprocedure;
BEGIN
	FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = home AND proname LIKE 'freshet\_%' AND prorettype = 'trigger'::regtype LOOP
		EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_temp', f, home);
	END LOOP;
END $$;
-- +goose StatementEnd
