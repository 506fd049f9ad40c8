package app

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/demo"
)

// Load of the benchmarks: so many clients, each with a connection it keeps.
const (
	benchClients = 16
	benchPage    = 20
	benchSession = 480 // what a refresh of 500 leaves
	agentPages   = benchSession / benchPage
)

// client sends requests over one connection. It is as small as can be, because
// it runs on the same cores as what is measured: a heavy client would make the
// two sides of a ratio look alike.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

func dial(addr string) (*client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// post asks for the agent's next page and returns the size of the answer.
func (c *client) post(agent, action string) (int, error) {
	body := `{"action":"` + action + `","limit":` + strconv.Itoa(benchPage) + `}`
	c.out = fmt.Appendf(c.out[:0], "POST /v1/feed HTTP/1.1\r\nHost: bench\r\nX-Agent-ID: %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", agent, len(body), body)
	if _, err := c.conn.Write(c.out); err != nil {
		return 0, err
	}
	size := -1
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		switch {
		case err != nil:
			return 0, err
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")):
			return 0, fmt.Errorf("answered %q", line)
		case len(line) == 2: // the end of the header
			_, err = c.in.Discard(size)
			return size, err
		}
		if length, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if size, err = strconv.Atoi(string(bytes.TrimSpace(length))); err != nil {
				return 0, err
			}
		}
	}
}

// load lets the clients ask for every page of their agents' sessions, at
// least so many bytes each, and returns pages per second.
func load(b *testing.B, addr string, agents []string, least int) float64 {
	b.Helper()
	clients := make([]*client, benchClients)
	for i := range clients {
		c, err := dial(addr)
		require.NoError(b, err)
		clients[i] = c
		defer func() { _ = c.conn.Close() }()
	}
	errs := make([]error, len(clients))
	var wg sync.WaitGroup
	start := time.Now()
	for i, c := range clients {
		wg.Go(func() {
			// Agents take turns, as readers do.
			for range agentPages {
				for at := i; at < len(agents); at += len(clients) {
					size, err := c.post(agents[at], "load_more")
					if err == nil && size < least {
						err = fmt.Errorf("a page of %d bytes for %s: its session has run dry", size, agents[at])
					}
					if err != nil {
						errs[i] = err
						return
					}
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	for _, err := range errs {
		require.NoError(b, err)
	}
	return float64(len(agents)*agentPages) / took.Seconds()
}

// ratios measures a baseline and its subject in turns, because the machine's
// speed drifts, and reports the median of the ratios and their spread. Each
// side gets the number of the round and returns something per second.
func ratios(b *testing.B, baseline, subject func(round int) float64) {
	b.Helper()
	var all, bases, subjects []float64
	for round := 0; b.Loop(); round++ {
		var base, sub float64
		if round%2 == 0 {
			base, sub = baseline(round), subject(round)
		} else {
			sub, base = subject(round), baseline(round)
		}
		all, bases, subjects = append(all, sub/base), append(bases, base), append(subjects, sub)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(quantile(all, 0.5), "ratio")
	b.ReportMetric(slices.Min(all), "ratio-min")
	b.ReportMetric(slices.Max(all), "ratio-max")
	b.ReportMetric(quantile(bases, 0.5), "baseline/s")
	b.ReportMetric(quantile(subjects, 0.5), "freshet/s")
}

// quantile is the value below which the share q of the values lies.
func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// running starts the system as the serve command does, its log lines written
// to nowhere, and stops it when the benchmark ends.
func running(b *testing.B, cfg configs.Config, options ...Option) (a *App, addr string) {
	b.Helper()
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(b, err)
	log := slog.New(slog.NewTextHandler(nowhere, nil))
	require.NoError(b, cfg.Validate())
	a, err = Open(context.WithoutCancel(b.Context()), cfg, append(options, WithLogger(log))...)
	require.NoError(b, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, l) }()
	b.Cleanup(func() {
		stop()
		require.NoError(b, <-ended)
		_ = nowhere.Close()
	})
	return a, l.Addr().String()
}

// bare serves one gin handler and nothing around it.
func bare(b *testing.B, answer gin.HandlerFunc) (addr string) {
	b.Helper()
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.POST("/v1/feed", answer)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	server := &http.Server{Handler: g, ReadHeaderTimeout: headerTimeout}
	go func() { _ = server.Serve(l) }()
	b.Cleanup(func() { _ = server.Close() })
	return l.Addr().String()
}

// write answers JSON with its length, which spares the chunks of an answer
// that is larger than net/http's buffer.
func write(c *gin.Context, json []byte) {
	c.Header("Content-Length", strconv.Itoa(len(json)))
	c.Data(http.StatusOK, "application/json; charset=utf-8", json)
}

// benchItems are n items of the demo, the newest of this moment. Beyond
// 100,000 the demo's titles grow scarce, so they repeat under other ids.
func benchItems(n int, now time.Time) []feed.Item {
	const most = 100_000
	made := demo.Generate(demoSeed, min(n, most), now)
	items := make([]feed.Item, 0, n)
	for i := range n {
		it := made[i%len(made)]
		if lap := i / len(made); lap > 0 {
			it.ID = fmt.Sprintf("%s-%d", it.ID, lap)
			it.Title = fmt.Sprintf("%s (%d)", it.Title, lap)
			it.UpdateTime -= int64(lap)
			if it.GroupID != "" {
				it.GroupID = fmt.Sprintf("%s-%d", it.GroupID, lap)
			}
		}
		items = append(items, it)
	}
	return items
}

// sessionItems are the items of a session, each a group of its own.
func sessionItems() []feed.Item {
	items := benchItems(benchSession, time.Now())
	for i := range items {
		items[i].GroupID = ""
	}
	return items
}

// benchAgents names agents that no other round has.
func benchAgents(round, n int) []string {
	agents := make([]string, n)
	for i := range agents {
		agents[i] = fmt.Sprintf("reader_%d_%d", round, i)
	}
	return agents
}

func refsOf(items []feed.Item) []feed.Ref {
	refs := make([]feed.Ref, len(items))
	for i, it := range items {
		refs[i] = feed.Ref{ID: it.ID, Group: it.ID}
	}
	return refs
}
