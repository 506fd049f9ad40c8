package client_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/internal/testenv"
)

// TestIngestModel uploads lines of a pipe that pauses at random to a server that is slow, fails, refuses or
// outlives the caller, at random: no two requests are sent at the same time, lines arrive once and in
// order, each rejected one is reported once, and the summary equals the answers.
func TestIngestModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testenv.Schedules(60)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { uploadAtRandom(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func uploadAtRandom(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	var mu sync.Mutex
	below := func(n int) int { mu.Lock(); defer mu.Unlock(); return rnd.IntN(n) }
	within := func(d time.Duration) time.Duration { return time.Duration(below(int(d))) }
	stored, answered, inProgress, refused := &itemServer{}, 0, 0, below(16)
	handle := func(w http.ResponseWriter, r *http.Request) {
		inProgress++
		defer func() { inProgress-- }()
		assert.Equal(t, 1, inProgress)
		time.Sleep(within(time.Second)) // all answers come in the time that a canceled upload has
		switch {
		case answered == refused:
			answer(w, 403, `{"code":40301,"msg":"no"}`) // without reading the body
		case below(5) == 0:
			answer(w, 503, `{"code":50301,"msg":"down"}`)
		default:
			answered++
			stored.ServeHTTP(w, r)
		}
	}
	text := func(i int) string {
		switch {
		case i%31 == 30:
			return fmt.Sprintf(`{"id":"bad","line":%d}`, i)
		case i%37 == 36:
			return "not an object"
		case i%41 == 40:
			return ""
		}
		return item(i)
	}
	r, w := io.Pipe()
	total := 1 + below(5_000)
	go func() {
		for i := range total {
			if _, err := io.WriteString(w, text(i+1)+"\n"); err != nil {
				return
			}
			if below(500) == 0 {
				time.Sleep(within(4 * time.Second))
			}
		}
		_ = w.Close()
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if below(3) == 0 {
		time.AfterFunc(within(15*time.Second), cancel)
	}
	reported := map[int]bool{}
	own := 0
	c := connect(t, "http://server", client.WithHTTPClient(inProcess(handle)), client.WithRetries(50, time.Microsecond))
	sum, err := c.Ingest(ctx, r, func(x client.Rejection) {
		assert.False(t, reported[x.Line], "line %d", x.Line)
		reported[x.Line] = true
		if x.ID == "" {
			own++
			assert.Equal(t, "not an object", text(x.Line))
		} else {
			assert.Contains(t, text(x.Line), "bad")
		}
	})
	require.NoError(t, r.Close())
	time.Sleep(time.Minute)

	arrived, rejected, line := 0, own, 0
	for _, lines := range stored.requests {
		for _, one := range lines {
			for line++; text(line) != one; line++ {
				require.NotContains(t, text(line), "{", "line %d is missing", line)
			}
			if strings.Contains(one, "bad") {
				rejected++
			} else {
				arrived++
			}
		}
	}
	require.Equal(t, client.Summary{Accepted: arrived, Rejected: rejected, Requests: len(stored.requests)}, sum)
	require.Len(t, reported, rejected)
	if err == nil {
		for line++; line <= total; line++ {
			require.NotContains(t, text(line), "{", "line %d is missing", line)
		}
	}
}
