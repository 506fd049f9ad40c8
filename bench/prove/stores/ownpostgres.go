package stores

import (
	"context"
	"errors"
	"os"

	"github.com/freshet/freshet/bench/prove"
	"github.com/freshet/freshet/internal/ownpostgres"
)

// Postgres is a PostgreSQL server of one run.
type Postgres struct {
	URL string // of a database

	server *ownpostgres.Server
	dir    string
}

// ErrNoPostgres means that there is no PostgreSQL server to run.
var ErrNoPostgres = ownpostgres.ErrMissing

// StartPostgres starts one in a directory of its own, which another user may have to read.
func StartPostgres(ctx context.Context) (_ *Postgres, err error) {
	dir, err := os.MkdirTemp("", "freshet-prove-postgres-")
	if err != nil {
		return nil, err
	}
	p := &Postgres{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	p.server, err = ownpostgres.New(ctx, dir)
	if err != nil {
		return nil, err
	}
	p.server.Settings = []string{"max_connections=1000"} // a system opens as many as it likes
	if err := p.server.Init(ctx); err != nil {
		return nil, err
	}
	if err := p.server.Start(ctx); err != nil {
		return nil, err
	}
	p.URL = p.server.URL
	return p, nil
}

// Fault is a crash, after which it starts again a second later.
func (p *Postgres) Fault() prove.Fault {
	return prove.Fault{Name: "kill of PostgreSQL, which starts again a second later", Do: p.Restart}
}

// Restart ends it without writing unsaved data, and starts it again a second later.
func (p *Postgres) Restart(ctx context.Context) error {
	p.server.Crash()
	if err := pause(ctx, downFor); err != nil {
		return err
	}
	return p.server.Start(ctx)
}

// Close ends it and removes its data.
func (p *Postgres) Close() error {
	if p.server != nil {
		p.server.Crash()
	}
	return os.RemoveAll(p.dir)
}
