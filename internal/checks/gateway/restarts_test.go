package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
)

// TestRestartsBehindNginx restarts two servers in turn under load, behind an nginx with a health
// check that removes servers that are not ready. No call may fail.
func TestRestartsBehindNginx(t *testing.T) {
	restarts := 2
	if testenv.InFull("kills") {
		restarts = 20
	}
	servers := []*restarted{newRestarted(t), newRestarted(t)}
	for _, s := range servers {
		s.start(t)
		testenv.WaitFor(t, func() bool { return isReady(t.Context(), s.cfg.Server.Addr) }, "a server to be ready")
	}
	b := newBalanced(t, servers)
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	var calls atomic.Int64
	for reader := range 4 {
		load.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				calls.Add(1)
				if err := b.call(fmt.Sprintf("u_%d", reader), n); err != nil {
					t.Errorf("call %d of reader %d: %v", n, reader, err)
				}
			}
		})
	}
	for n := range restarts {
		s := servers[n%2]
		s.stop(t)
		b.waitFor(t, s, false)
		s.start(t)
		b.waitFor(t, s, true)
	}
	stop()
	load.Wait()
	t.Logf("%d calls through %d restarts", calls.Load(), restarts)
	for _, s := range servers {
		s.stop(t)
	}
}

// restarted is a server that can be stopped and started again with the same address.
type restarted struct {
	cfg  configs.Config
	end  context.CancelFunc
	done chan error
}

func newRestarted(t *testing.T) *restarted {
	cfg := configs.Default()
	cfg.DataDir, cfg.Server.Addr, cfg.Server.Drain = t.TempDir(), testenv.FreeAddr(t), 2*time.Second
	return &restarted{cfg: cfg}
}

func (s *restarted) start(t *testing.T) {
	t.Helper()
	a, err := server.Open(t.Context(), s.cfg)
	require.NoError(t, err)
	l, err := net.Listen("tcp", s.cfg.Server.Addr)
	require.NoError(t, err)
	var ctx context.Context
	ctx, s.end = context.WithCancel(context.WithoutCancel(t.Context()))
	s.done = make(chan error, 1)
	go func() { s.done <- a.Serve(ctx, l) }()
}

// stop stops the server as SIGTERM does, and waits until it has stopped.
func (s *restarted) stop(t *testing.T) {
	t.Helper()
	s.end()
	require.NoError(t, <-s.done)
}

// balanced is an nginx in front of servers with readiness checks like those of an ingress
// controller.
type balanced struct {
	dir    string
	client *http.Client
	cmd    *exec.Cmd

	mu    sync.Mutex
	ready map[string]bool // by address
}

func newBalanced(t *testing.T, servers []*restarted) *balanced {
	t.Helper()
	program := installed(t)
	dir, err := os.MkdirTemp("", "restarts")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b := &balanced{dir: dir, ready: map[string]bool{}}
	// An nginx started without any server would answer 502 for a moment after it gets one.
	for _, s := range servers {
		b.ready[s.cfg.Server.Addr] = isReady(t.Context(), s.cfg.Server.Addr)
	}
	b.client = &http.Client{Transport: &http.Transport{
		// nginx closes idle connections when it reloads its configuration.
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", b.in("socket"))
		},
	}}
	b.write(t)
	b.cmd = start(t, program, b.in("nginx.conf"), b.in("socket"))
	watching, end := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() { defer close(ended); b.watch(watching, t, servers) }()
	t.Cleanup(func() { end(); <-ended })
	return b
}

func (b *balanced) in(name string) string { return filepath.Join(b.dir, name) }

func (b *balanced) write(t *testing.T) {
	var conf, upstream strings.Builder
	for address, ready := range b.ready {
		if ready {
			fmt.Fprintf(&upstream, "server %s fail_timeout=1s;\n", address)
		}
	}
	if upstream.Len() == 0 {
		upstream.WriteString("server 127.0.0.1:1 down;\n")
	}
	fmt.Fprintf(&conf, "daemon off; error_log stderr; pid %s; user root;\nworker_processes 1;\nevents {}\nhttp {\naccess_log off;\n", b.in("pid"))
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&conf, "%s_temp_path %s;\n", kind, b.in(kind))
	}
	fmt.Fprintf(&conf, `upstream freshet { %s keepalive 64; }
server {
    listen unix:%s;
    location / { proxy_pass http://freshet; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host; }
}
}
`, upstream.String(), b.in("socket"))
	if err := os.WriteFile(b.in("nginx.conf"), []byte(conf.String()), 0o600); err != nil {
		t.Errorf("write the configuration of nginx: %v", err)
	}
}

// watch checks the readiness of the servers and makes nginx use the ready ones.
func (b *balanced) watch(ctx context.Context, t *testing.T, servers []*restarted) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		changed := false
		for _, s := range servers {
			ready := isReady(ctx, s.cfg.Server.Addr)
			b.mu.Lock()
			if b.ready[s.cfg.Server.Addr] != ready {
				b.ready[s.cfg.Server.Addr], changed = ready, true
			}
			b.mu.Unlock()
		}
		if changed {
			b.write(t)
			_ = b.cmd.Process.Signal(syscall.SIGHUP)
		}
	}
}

func isReady(ctx context.Context, address string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// waitFor waits until the health check reports the server as ready, or not.
func (b *balanced) waitFor(t *testing.T, s *restarted, ready bool) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.ready[s.cfg.Server.Addr] == ready
	}, "the health check to say ready=%t", ready)
}

// call makes a refresh or a load_more, which must succeed.
func (b *balanced) call(agent string, n int) error {
	action := "refresh"
	if n%2 == 1 {
		action = "load_more"
	}
	req, err := http.NewRequest(http.MethodPost, "http://feed/v1/feed", strings.NewReader(`{"action":"`+action+`"}`))
	if err != nil {
		return err
	}
	req.Header.Set("X-Agent-ID", agent)
	res, err := b.client.Do(req)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s: %s", res.Status, body)
	}
	return nil
}
