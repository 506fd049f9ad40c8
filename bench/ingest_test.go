package bench

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/freshet/freshet/client"
)

// receiver returns a system that accepts uploads, and a client for it.
func receiver(t testing.TB, b *bench) (*system, *api.Client) {
	t.Helper()
	cfg := b.embeddedConfig(filepath.Join(t.TempDir(), "data"))
	cfg.Auth.AdminToken = "secret"
	s, err := b.serve(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.stop()) })
	sender, err := api.New("http://"+s.addr, api.WithToken("secret"))
	require.NoError(t, err)
	t.Cleanup(sender.Close)
	return s, sender
}

func shortRun(t testing.TB) *bench {
	t.Helper()
	b, err := begin(t.Context(), embeddedOptions())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.end(context.WithoutCancel(t.Context()))) })
	return b
}

// TestUploadParts checks that the parts of the file together are the whole file, line by line.
func TestUploadParts(t *testing.T) {
	b, now := shortRun(t), time.Now()
	u, err := b.writeItems(1003, now)
	require.NoError(t, err)
	defer func() { require.NoError(t, u.file.Close()) }()
	whole, err := os.ReadFile(u.file.Name())
	require.NoError(t, err)
	require.Len(t, u.parts, 1+b.rounds())
	assert.Equal(t, 501, u.parts[0].items)
	next := int64(0)
	for _, p := range u.parts {
		assert.Equal(t, next, p.from)
		next += p.bytes
		text := string(whole[p.from:next])
		assert.Equal(t, p.items, strings.Count(text, "\n"))
		assert.True(t, strings.HasPrefix(text, `{"id":`) && strings.HasSuffix(text, "}\n"))
	}
	assert.EqualValues(t, len(whole), next)
}

// TestUploadLossDetected removes an item without updating the count.
func TestUploadLossDetected(t *testing.T) {
	b, now := shortRun(t), time.Now()
	u, err := b.writeItems(1000, now)
	require.NoError(t, err)
	defer func() { require.NoError(t, u.file.Close()) }()
	s, sender := receiver(t, b)
	for i := range u.parts {
		require.NoError(t, b.send(t.Context(), sender, u, i))
	}
	require.NoError(t, b.verifyStored(t.Context(), s, u, now))
	require.Empty(t, b.report.Impossible)

	require.NoError(t, s.Catalog.Remove(t.Context(), "doc_500"))
	require.NoError(t, b.verifyStored(t.Context(), s, u, now))
	assert.Equal(t, []string{
		"1 of 1000 items that were accepted are not in the catalog",
		"1 of 1000 items that were accepted are not in the index",
	}, b.report.Impossible)
}

// TestFlowCountsQueueTime delays the first answers: the requests due meanwhile are late, and their
// waiting time must count.
func TestFlowCountsQueueTime(t *testing.T) {
	const pause = 100 * time.Millisecond
	body := strings.Repeat("x", leastAnswer)
	var began atomic.Pointer[time.Time]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		now := time.Now()
		began.CompareAndSwap(nil, &now)
		time.Sleep(time.Until(began.Load().Add(pause)))
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	f := &flow{addr: server.Listener.Addr().String(), rate: 10 * refreshRate, agents: 10}
	turn, err := f.during(t.Context(), func(ctx context.Context) error { return sleep(ctx, pause) })
	require.NoError(t, err)
	// More requests than connections had to wait, and those due in the first half of the pause for
	// longer than half of it.
	assert.Greater(t, turn.times.TotalCount(), int64(clients))
	assert.EqualValues(t, f.asked, turn.times.TotalCount(), "each that was due was answered")
	assert.GreaterOrEqual(t, turn.times.Max(), int64(pause/2))
}

func TestFlowError(t *testing.T) {
	answers := map[string]func(http.ResponseWriter){
		"answered":         func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		"it has only 2 by": func(w http.ResponseWriter) { _, _ = w.Write([]byte("{}")) },
	}
	for says, answer := range answers {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
		f := &flow{addr: server.Listener.Addr().String(), rate: refreshRate, agents: 10}
		_, err := f.during(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		require.ErrorContains(t, err, says)
		server.Close()
	}
	f := &flow{addr: "127.0.0.1:1", rate: refreshRate, agents: 10}
	_, err := f.during(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	require.ErrorContains(t, err, "connect")
	broken := errors.New("broken")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("x", leastAnswer)))
	}))
	defer server.Close()
	f.addr = server.Listener.Addr().String()
	_, err = f.during(t.Context(), func(context.Context) error { return broken })
	require.ErrorIs(t, err, broken)
}

// BenchmarkIngest uploads 50,000 items to an empty system. Its profile includes the client's part.
func BenchmarkIngest(b *testing.B) {
	run := shortRun(b)
	u, err := run.writeItems(100_000, time.Now())
	require.NoError(b, err)
	defer func() { require.NoError(b, u.file.Close()) }()
	for b.Loop() {
		b.StopTimer()
		_, sender := receiver(b, run)
		b.StartTimer()
		require.NoError(b, run.send(b.Context(), sender, u, 0))
	}
	b.ReportMetric(float64(u.parts[0].items*b.N)/b.Elapsed().Seconds(), "items/s")
}
