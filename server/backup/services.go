package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/internal/rowsum"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postgres"
)

// redisPatience is how long one command may take: a chunk of a filter has ten megabytes.
const redisPatience = time.Minute

// openPostgres opens the database of posts.
func openPostgres(ctx context.Context, cfg configs.Config) (*postgres.Store, error) {
	return postgres.New(ctx, postgres.Config{URL: cfg.Postgres.URL}, social.Options{})
}

// redisOf has a client, and what copies impressions with it.
type redisOf struct {
	redis.UniversalClient
	*redisbloom.Copier
}

func openRedis(ctx context.Context, cfg configs.Config) (*redisOf, error) {
	client, err := connect.Redis(ctx, cfg, func(o *redis.UniversalOptions) { o.ReadTimeout, o.WriteTimeout = redisPatience, redisPatience })
	if err != nil {
		return nil, fmt.Errorf("redis.url: %w", err)
	}
	return &redisOf{client, redisbloom.NewCopier(client, cfg.Redis.KeyPrefix, time.Now)}, nil
}

// emptyServices returns an error unless the services have nothing that would be mixed with the backup.
func (r *restoring) emptyServices(ctx context.Context) error {
	for i := range r.m.Parts {
		p := &r.m.Parts[i]
		var err error
		switch p.Kind {
		case Postgres:
			err = r.emptyPostgres(ctx, p)
		case Elasticsearch:
			err = r.emptyElastic(ctx, p)
		case Redis:
			err = r.emptyRedis(ctx)
		case Files, Database, Images, Settings: // in data_dir; images of others are not in the way
		}
		if err != nil {
			return fmt.Errorf("restore %s: %w; nothing was changed", p.Name, err)
		}
	}
	return nil
}

// lineSums adds the lines that are written to it.
type lineSums struct {
	sum  rowsum.Sum
	rest []byte // the beginning of a line
	told func(rows int64)
}

func (l *lineSums) Write(p []byte) (int, error) {
	begin := 0
	for i, b := range p {
		if b != '\n' {
			continue
		}
		l.rest = append(l.rest, p[begin:i]...)
		l.sum.Add(l.rest)
		l.rest, begin = l.rest[:0], i+1
		if l.told != nil && l.sum.Rows%1000 == 0 {
			l.told(l.sum.Rows)
		}
	}
	l.rest = append(l.rest, p[begin:]...)
	return len(p), nil
}

// table returns the content of the lines.
func (l *lineSums) table() Table { return Table{Rows: l.sum.Rows, Sum: l.sum.String()} }

// pacedWriter is a writer that a pace and a context bound.
type pacedWriter struct {
	ctx  context.Context //nolint:containedctx // of the one copy that it is made for
	pace pace
	w    io.Writer
}

func (p *pacedWriter) Write(b []byte) (int, error) {
	if err := p.pace.wait(p.ctx, len(b)); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}

// writeFile writes a file of a part by a function that gets a paced writer to it.
func (r *run) writeFile(ctx context.Context, p *Part, name string, write func(io.Writer) error) error {
	out, err := r.files.begin(ctx, r.folder, name)
	if err != nil {
		return err
	}
	err = write(&pacedWriter{ctx, r.pace, out})
	f, err := out.finish(err)
	if err != nil {
		return err
	}
	if err := step(ctx, "wrote "+name); err != nil {
		return err
	}
	p.Files = append(p.Files, f)
	return nil
}

// readFile calls do with the content of a file of the backup, paced. Of a file that do has not read to its
// end, the content is not checked.
func (r *restoring) readFile(ctx context.Context, p *Part, name string, do func(io.Reader) error) error {
	f := p.file(name)
	if f == nil {
		return fmt.Errorf("the manifest names no file %s; restore another backup", name)
	}
	if err := step(ctx, "read "+name); err != nil {
		return err
	}
	in, err := r.files.checked(ctx, r.folder, *f)
	if err != nil {
		return err
	}
	err = because(ctx, do(&paced{ctx: ctx, pace: r.pace, r: in}), in)
	return errors.Join(err, in.Close())
}
