// Package freshet lets bench/prove judge Freshet: embedded, and as two servers with services. Each
// server is the serve command in a process of its own, with the default settings.
package freshet

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"

	"github.com/freshet/freshet/bench/prove"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server"
)

// Kind is the kind of the servers' processes.
const Kind = "freshet"

// spec configures a server's process.
type spec struct {
	Dir   string
	Name  string // prefix of keys, and the index; with services
	Redis string // host:port; "" is embedded, as are the next two
	// Sentinels know the master, in place of Redis.
	Sentinels []string
	Elastic   string
	Postgres  string
	Strict    bool // no page while Redis is down, or that no replica has
}

// Serve runs a server.
func Serve(ctx context.Context, c prove.Child) error {
	var s spec
	if err := json.Unmarshal(c.Spec, &s); err != nil {
		return err
	}
	cfg := s.config()
	cfg.Server.Addr = c.Addr
	if err := cfg.Validate(); err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	return server.Run(ctx, l, cfg, server.WithLogger(log), server.WithWrongClock(c.Now))
}

// config returns the default settings, with the addresses of the services.
func (s spec) config() configs.Config {
	cfg := configs.Default()
	cfg.DataDir, cfg.Server.Drain = s.Dir, 0 // there is no load balancer
	if s.Elastic != "" {
		cfg.Redis.URL = s.redis()
		cfg.Redis.KeyPrefix = s.Name + ":"
		cfg.Elasticsearch.Addresses, cfg.Elasticsearch.Index = []string{s.Elastic}, s.Name
		cfg.Postgres.URL = s.Postgres
		if s.Strict {
			cfg.Dedup.OnFailure, cfg.Redis.WaitReplicas = configs.FailClosed, 1
		}
	}
	return cfg
}

// redis returns the URL of Redis.
func (s spec) redis() string {
	if len(s.Sentinels) == 0 {
		return fmt.Sprintf("redis://%s/0", s.Redis)
	}
	return fmt.Sprintf("redis://%s/0?master_name=%s&addr=%s", s.Sentinels[0], prove.Master, strings.Join(s.Sentinels[1:], "&addr="))
}
