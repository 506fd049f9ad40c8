package server

import (
	"context"
	"io"
	"strings"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/version"
	"github.com/freshet/freshet/server/doctor"
)

// system tells operators how the server runs.
type system struct {
	cfg configs.Config // with the data directory of this process
}

func (b *builder) system() system {
	s := system{cfg: b.cfg}
	s.cfg.DataDir = b.root()
	return s
}

// System implements [handler.System].
func (s system) System() api.System {
	out := api.System{Version: version.Long()}
	out.Items, out.Impressions, out.Posts = s.cfg.Stores()
	out.Settings = convert.Each(configs.Settings(s.cfg), func(one configs.Setting) api.Setting {
		return api.Setting{Key: one.Key, Value: s.masked(one.Value), Origin: one.Origin, Help: one.Help}
	})
	return out
}

// Diagnose implements [handler.System].
func (s system) Diagnose(ctx context.Context) api.Diagnosis {
	found := doctor.Check(ctx, s.cfg, doctor.Options{})
	return api.Diagnosis{Findings: convert.Each(found, func(f doctor.Finding) api.Finding {
		return api.Finding{Level: string(f.Level), What: f.What, Detail: s.masked(f.Detail), Fix: s.masked(f.Fix)}
	})}
}

// masked hides secrets in a text: errors of services may repeat their input.
func (s system) masked(text string) string {
	var b strings.Builder
	_, _ = io.WriteString(configs.Masking(&b, s.cfg), text) // a Builder does not fail
	return b.String()
}
