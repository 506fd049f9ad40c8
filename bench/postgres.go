package bench

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/freshet/freshet/configs"
)

// bareConns is the number of PostgreSQL connections of a bare handler: one per client.
const bareConns = clients

// openSchema creates this run's schema and connections with it as search_path.
func (b *bench) openSchema(ctx context.Context) error {
	u, err := url.Parse(b.o.Config.Postgres.URL)
	if err != nil {
		return fmt.Errorf("postgres.url: %w", err)
	}
	q := u.Query()
	q.Set("search_path", b.schema())
	u.RawQuery = q.Encode()
	b.postgresURL = u.String()
	cfg, err := pgxpool.ParseConfig(b.postgresURL)
	if err != nil {
		return fmt.Errorf("postgres.url: %w", err)
	}
	cfg.MaxConns = bareConns
	if b.services.postgres, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return fmt.Errorf("postgres.url: %w", err)
	}
	if _, err := b.services.postgres.Exec(ctx, "CREATE SCHEMA "+b.schema()); err != nil {
		return fmt.Errorf("postgres.url: %w", err)
	}
	var pid int
	if err := b.services.postgres.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return fmt.Errorf("postgres.url: %w", err)
	}
	b.services.postmaster = postmaster(pid)
	return nil
}

// schema returns the name of this run's schema.
func (b *bench) schema() string { return strings.ReplaceAll(b.name, "-", "_") }

// closeSchema drops the schema, if it exists.
func (b *bench) closeSchema(ctx context.Context) error {
	defer b.services.postgres.Close()
	if b.schema() == strings.ReplaceAll(mark, "-", "_") {
		return fmt.Errorf("%q is not a schema of a benchmark; it is not deleted", b.schema())
	}
	_, err := b.services.postgres.Exec(ctx, "DROP SCHEMA IF EXISTS "+b.schema()+" CASCADE")
	return err
}

// socialConfig stores everything in the services, including posts and follows.
func (b *bench) socialConfig(dir string) configs.Config {
	cfg := b.servicesConfig(dir)
	cfg.Social.Off, cfg.Postgres.URL = false, b.postgresURL
	return cfg
}

// postmaster returns the parent of PostgreSQL's processes if it runs on this machine, else 0. The
// local process with that number may be a different program, so its name is checked.
func postmaster(backend int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", backend))
	if err != nil || !strings.Contains(string(text), "(postgres)") {
		return 0
	}
	parent, _ := parentOf(string(text))
	return parent
}

func parentOf(stat string) (int, bool) {
	_, after, _ := strings.Cut(stat, ") ")
	fields := strings.Fields(after)
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return parent, err == nil
}

// postgresCPU returns the CPU time of PostgreSQL's processes, those included that have ended: connections
// are replaced every few minutes.
func postgresCPU(postmaster int) (sum time.Duration, err error) {
	sum, err = endedCPU(postmaster)
	if err != nil {
		return 0, err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // the process has ended
		}
		if parent, ok := parentOf(string(text)); !ok || parent != postmaster {
			continue
		}
		if spent, err := processCPU(pid); err == nil {
			sum += spent
		}
	}
	return sum, nil
}

// exec runs statements one after the other.
func (b *bench) exec(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		if _, err := b.services.postgres.Exec(ctx, text); err != nil {
			return fmt.Errorf("%.60s: %w", text, err)
		}
	}
	return nil
}

// rowsOf returns a column of strings.
func rowsOf(ctx context.Context, pool *pgxpool.Pool, text string, args ...any) ([]string, error) {
	rows, err := pool.Query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
