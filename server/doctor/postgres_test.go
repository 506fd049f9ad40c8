package doctor

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/postgres"
)

// TestDoctorMigratesTables checks that the doctor migrates if permitted, and reports it
// otherwise.
func TestDoctorMigratesTables(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Postgres.URL = testenv.Postgres(t)
	findings := Check(t.Context(), cfg, Options{})
	assert.Equal(t, OK, about(t, findings, "postgres").Level)
	schema := about(t, findings, "postgres schema")
	assert.Equal(t, Warning, schema.Level)
	assert.Contains(t, schema.Detail, "version 0 of ")
	assert.Contains(t, schema.Fix, "freshet doctor --fix")
	for _, fix := range []bool{true, false} {
		schema = about(t, Check(t.Context(), cfg, Options{Fix: fix}), "postgres schema")
		assert.Equal(t, OK, schema.Level, schema.Detail)
	}

	assert.Equal(t, OK, about(t, Check(t.Context(), cfg, Options{}), "postgres settings").Level)
	assert.Equal(t, OK, about(t, Check(t.Context(), cfg, Options{Accept: true}), "postgres settings").Level)
	cfg.Dedup.WindowDays++
	differ := about(t, Check(t.Context(), cfg, Options{Fix: true}), "postgres settings")
	assert.Equal(t, Broken, differ.Level)
	assert.Contains(t, differ.Detail, "dedup.window_days is 8 here and 7 on the others")
	assert.Contains(t, about(t, Check(t.Context(), cfg, Options{Accept: true}), "postgres settings").Detail, "restart each")
	assert.Equal(t, OK, about(t, Check(t.Context(), cfg, Options{}), "postgres settings").Level)

	cfg.Postgres.URL = "postgres://freshet@127.0.0.1:1/freshet?sslmode=disable"
	down := about(t, Check(t.Context(), cfg, Options{Fix: true}), "postgres")
	assert.Equal(t, Broken, down.Level)
	assert.Contains(t, down.Fix, "start it on this machine")
}

// TestDoctorFailsToMigrate has a database that answers, and whose disk is full.
func TestDoctorFailsToMigrate(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Postgres.URL = testenv.Postgres(t)
	assert.Equal(t, OK, about(t, Check(t.Context(), cfg, Options{Fix: true}), "postgres schema").Level)
	db, err := pgx.Connect(t.Context(), cfg.Postgres.URL)
	require.NoError(t, err)
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	_, err = db.Exec(t.Context(), `DELETE FROM freshet_migrations WHERE version_id = (SELECT max(version_id) FROM freshet_migrations);
		CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$;
		CREATE TRIGGER full_disk BEFORE INSERT ON freshet_migrations FOR EACH ROW EXECUTE FUNCTION full_disk()`)
	require.NoError(t, err)
	found := about(t, Check(t.Context(), cfg, Options{Fix: true}), "postgres schema")
	assert.Equal(t, Broken, found.Level)
	assert.Contains(t, found.Detail, "free some space")
}

// TestDoctorTriesToCreateTables has a user who may use the schema, but create no tables in it, as on
// PostgreSQL 15 and newer.
func TestDoctorTriesToCreateTables(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	address := testenv.Postgres(t)
	db, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	role := "r" + strings.ReplaceAll(testenv.Unique(), "-", "_")
	exec := func(text string) {
		_, err := db.Exec(context.WithoutCancel(t.Context()), text)
		require.NoError(t, err, text)
	}
	var schema string
	require.NoError(t, db.QueryRow(t.Context(), `SELECT current_schema()`).Scan(&schema))
	exec("CREATE ROLE " + role + "; GRANT " + role + " TO current_user; GRANT USAGE ON SCHEMA " + schema + " TO " + role)
	t.Cleanup(func() {
		exec("DROP OWNED BY " + role + "; DROP ROLE " + role)
		_ = db.Close(context.WithoutCancel(t.Context()))
	})
	cfg.Postgres.URL = address + "&role=" + role
	for _, fix := range []bool{false, true} {
		what := map[bool]string{false: "postgres writes", true: "postgres schema"}[fix]
		found := about(t, Check(t.Context(), cfg, Options{Fix: fix}), what)
		assert.Equal(t, Broken, found.Level)
		assert.Contains(t, found.Detail, "GRANT USAGE, CREATE ON SCHEMA", what)
	}
	exec("GRANT CREATE ON SCHEMA " + schema + " TO " + role)
	assert.Empty(t, levels(Check(t.Context(), cfg, Options{}), "postgres writes"))
}

func TestDoctorPostgres(t *testing.T) {
	t.Parallel()
	good := postgres.Report{Schema: postgres.Schema{Found: 3, Known: 3}, Encoding: "UTF8", Conns: 20, ServerConns: 97}
	for what, c := range map[string]struct {
		change func(*postgres.Report)
		level  Level
		says   string
	}{
		"postgres schema":      {func(r *postgres.Report) { r.Schema.Found, r.Schema.Oldest = 5, 4 }, Broken, "newer than this program's 3, and requires a freshet that supports 4"},
		"postgres encoding":    {func(r *postgres.Report) { r.Encoding = "LATIN1" }, Broken, "it is LATIN1"},
		"postgres writes":      {func(r *postgres.Report) { r.ReadOnly = true }, Broken, "it is read-only"},
		"postgres connections": {func(r *postgres.Report) { r.Conns = 98 }, Warning, "up to 98 connections, and PostgreSQL allows 97"},
		"postgres pooler":      {func(r *postgres.Report) { r.Pooled, r.Prepares = true, true }, Warning, "a pooler such as PgBouncer"},
		"postgres search_path": {func(r *postgres.Report) { r.Path = "public" }, Broken, "it is public"},
		"postgres indexes":     {func(r *postgres.Report) { r.Invalid = []string{"a", "b"} }, Warning, "interrupted: a, b"},
		"postgres durability":  {func(r *postgres.Report) { r.Unsafe = []string{"fsync"} }, Warning, "with fsync off"},
	} {
		d := &doctor{}
		r := good
		c.change(&r)
		d.judgePostgres(r)
		found := about(t, d.findings, what)
		assert.Equal(t, c.level, found.Level, what)
		assert.Contains(t, found.Detail, c.says, what)
		assert.NotEmpty(t, found.Fix, what)
	}
	d := &doctor{}
	d.judgePostgres(good)
	assert.Equal(t, []Finding{{Level: OK, What: "postgres schema", Detail: "version 3"}}, d.findings)
	d = &doctor{}
	good.Schema.Found, good.Schema.Oldest = 4, 2
	d.judgePostgres(good)
	assert.Equal(t, OK, about(t, d.findings, "postgres schema").Level)
}

// TestDoctorTriesPostgresWrites has a server that answers, and whose disk is full.
func TestDoctorTriesPostgresWrites(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Postgres.URL = testenv.Postgres(t)
	assert.Empty(t, levels(Check(t.Context(), cfg, Options{Fix: true}), "postgres writes"))
	db, err := pgx.Connect(t.Context(), cfg.Postgres.URL)
	require.NoError(t, err)
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	_, err = db.Exec(t.Context(), `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$;
		CREATE TRIGGER full_disk BEFORE INSERT ON freshet_settings FOR EACH ROW EXECUTE FUNCTION full_disk()`)
	require.NoError(t, err)
	found := about(t, Check(t.Context(), cfg, Options{}), "postgres writes")
	assert.Equal(t, Broken, found.Level)
	assert.Contains(t, found.Detail, "free some space")
}
