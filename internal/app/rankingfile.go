package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/ranking"
)

// fileEvery is how often the configuration file is read. An edit is taken when
// two readings in a row agree, so that no half-written file is, and is in force
// within two seconds.
const fileEvery = 500 * time.Millisecond

// WithConfigFile makes edits of the ranking's values in the configuration file
// take effect while the system runs. load reads the configuration anew, from
// all its layers.
func WithConfigFile(path string, load func() (configs.Config, error)) Option {
	return func(a *App) { a.file = &configFile{path: path, load: load} }
}

// configFile is watched by reading it: editors put a new file in its place and
// Kubernetes turns a link, which a watch on the file itself would miss.
type configFile struct {
	path string
	load func() (configs.Config, error)

	taken   configs.Config // as it was last taken over
	seen    []byte         // what the file held then, or when it was refused; nil: not read yet
	settle  []byte         // what it held at the last reading, if anything had changed; nil: nothing had
	lost    bool           // the file could not be read
	waiting bool           // an edit could not be stored yet
	ranking *ranking.Live
	log     *slog.Logger
}

// start notes what the system began with.
func (f *configFile) start(cfg configs.Config, live *ranking.Live, log *slog.Logger) {
	f.taken, f.ranking, f.log = cfg, live, log.With("file", f.path)
}

func (f *configFile) watch(ctx context.Context) {
	tick := time.NewTicker(fileEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.look(ctx)
		}
	}
}

// look reads the file once.
func (f *configFile) look(ctx context.Context) {
	data, err := os.ReadFile(f.path)
	if err != nil {
		// Between two readings it may just be replaced.
		if f.settle = nil; !f.lost {
			f.lost = true
			f.log.WarnContext(ctx, "the configuration file cannot be read; what is in force stays", "error", err)
		}
		return
	}
	f.lost = false
	switch {
	case f.seen != nil && bytes.Equal(data, f.seen):
		f.settle = nil
	case f.settle == nil || !bytes.Equal(data, f.settle):
		f.settle = append([]byte{}, data...)
	case f.take(ctx):
		f.seen, f.settle, f.waiting = f.settle, nil, false
	}
}

// take takes over what the file says now and reports whether that is settled: a
// file that is wrong is, until it is edited again.
func (f *configFile) take(ctx context.Context) bool {
	cfg, err := f.load()
	if err != nil {
		f.refuse(ctx, err)
		return true
	}
	if edited, old := cfg.Parameters(), f.taken.Parameters(); edited != old {
		storing, cancel := context.WithTimeout(ctx, f.taken.Server.RequestTimeout)
		defer cancel()
		switch err := f.ranking.FileEdited(storing, f.path, old, edited); {
		case ctx.Err() != nil:
			return false
		case passes(err):
			if !f.waiting {
				f.waiting = true
				f.log.WarnContext(ctx, "an edit of the ranking cannot be stored yet; it is tried again", "error", err)
			}
			return false
		case err != nil:
			f.refuse(ctx, err)
			return true
		}
	}
	if restart := others(cfg, f.taken); restart && f.seen != nil {
		f.log.WarnContext(ctx, "the configuration file was edited; only ranking.* takes effect now, the rest at the next start")
	}
	f.taken = cfg
	return true
}

// passes reports whether an edit that could not be stored may be later.
func passes(err error) bool {
	return errors.Is(err, ranking.ErrUnavailable) || errors.Is(err, ranking.ErrChanged) || errors.Is(err, context.DeadlineExceeded)
}

// refuse says in one line what is wrong with the file.
func (f *configFile) refuse(ctx context.Context, err error) {
	reason := err.Error()
	var problems configs.Problems
	if errors.As(err, &problems) {
		list := make([]string, len(problems))
		for i, p := range problems {
			list[i] = p.String()
		}
		reason = strings.Join(list, "; ")
	}
	f.log.ErrorContext(ctx, "the edited configuration file is refused; what is in force stays", "reason", reason)
}

// others reports whether anything but the ranking differs.
func others(a, b configs.Config) bool {
	a.Ranking = b.Ranking
	return !reflect.DeepEqual(a, b)
}
