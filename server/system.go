package server

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/version"
	"github.com/freshet/freshet/server/breaker"
	"github.com/freshet/freshet/server/doctor"
	"github.com/freshet/freshet/server/livesettings"
	"github.com/freshet/freshet/server/overview"
)

// system tells operators how the server runs.
type system struct {
	live    *livesettings.Settings
	dataDir string // of this process
	clock   feed.Clock
	log     *slog.Logger
}

func (b *builder) system() system { return system{b.live, b.root(), b.clock, b.log} }

// cfg returns the configuration in force, with the data directory of this process.
func (s system) cfg() configs.Config {
	cfg := s.live.Now()
	cfg.DataDir = s.dataDir
	return cfg
}

// System implements [handler.System].
func (s system) System(ctx context.Context) api.System {
	cfg := s.cfg()
	out := api.System{Version: version.Long(), Files: filesIn(s.dataDir), Dependencies: []api.CalledDependency{}}
	out.Items, out.Impressions, out.Posts = cfg.Stores()
	out.Settings = convert.Each(configs.Settings(cfg), func(one configs.Setting) api.Setting {
		return api.Setting{Key: one.Key, Value: masked(cfg, one.Value), Origin: one.Origin, Source: one.Source, Help: one.Help}
	})
	process, err := overview.ReadProcess(prometheus.DefaultGatherer)
	if err != nil {
		s.log.WarnContext(ctx, "the metrics of this process cannot be read", "error", err)
		return out
	}
	out.Recording = process.Recording
	if process.OldestAt > 0 {
		out.Recording.Oldest = max(0, float64(s.clock().UnixMilli())/1000-process.OldestAt)
	}
	states := breaker.States()
	for _, d := range process.Dependencies {
		d.Breaker = cmp.Or(states[d.Name], breaker.Closed)
		out.Dependencies = append(out.Dependencies, d)
	}
	return out
}

// filesIn lists what is in a directory, a folder with the size of everything in it. What cannot be read,
// or is gone meanwhile, is left out.
func filesIn(dir string) []api.DataFile {
	found := []api.DataFile{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return found
	}
	for _, entry := range entries {
		one := api.DataFile{Name: entry.Name()}
		_ = filepath.WalkDir(filepath.Join(dir, entry.Name()), func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // it is gone
			}
			info, err := e.Info()
			if err == nil && !e.IsDir() {
				one.Bytes += info.Size()
				one.Changed = later(one.Changed, info.ModTime().UTC())
			}
			return nil
		})
		found = append(found, one)
	}
	return found
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Diagnose implements [handler.System].
func (s system) Diagnose(ctx context.Context) api.Diagnosis {
	cfg := s.cfg()
	found := doctor.Check(ctx, cfg, doctor.Options{})
	return api.Diagnosis{Findings: convert.Each(found, func(f doctor.Finding) api.Finding {
		return api.Finding{Level: string(f.Level), What: f.What, Detail: masked(cfg, f.Detail), Fix: masked(cfg, f.Fix)}
	})}
}

// masked hides secrets in a text: errors of services may repeat their input.
func masked(cfg configs.Config, text string) string {
	var b strings.Builder
	_, _ = io.WriteString(configs.Masking(&b, cfg), text) // a Builder does not fail
	return b.String()
}
