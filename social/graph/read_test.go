package graph_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/graph"
)

func followLine(agent, author string, at int) string {
	return fmt.Sprintf(`{"type":"follow.created","data":{"agent_id":%q,"author_id":%q,"at":%d}}`, agent, author, at)
}

func read(t *testing.T, s graph.Store, cfg graph.Config, body string) (api.Upload, error) {
	t.Helper()
	return graph.NewApplier(s, cfg).Read(t.Context(), iotest.HalfReader(strings.NewReader(body)))
}

func TestReadReportsByLine(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	body := "\xef\xbb\xbf\n" + followLine("u_1", "a", 1) + "\r\n\n[]\n" + followLine("a", "a", 1) + "\n" + `{"type":"post.deleted","data":{"id":"post:1","at":1,"x":1}}` + "\n" +
		followLine("u_2", "a", 1<<40) + "\n" + strings.Repeat(" ", graph.MaxEventBytes+2) + "x\n" + followLine("u_3", "a", 1<<33) + "\n" + followLine("u_4", "a", 2)
	report, err := read(t, s, graph.Config{}, body)
	require.NoError(t, err)
	require.Equal(t, api.Upload{Accepted: 2, Rejected: 6, Errors: []api.Rejection{
		{Line: 4, Reason: "the JSON must be an object, not an array"},
		{Line: 5, ID: "a/a", Reason: "a cannot follow or block themself"},
		{Line: 6, ID: "post:1", Reason: `unknown field "x"; known are id, at`},
		{Line: 7, ID: "u_2/a", Reason: `at must be a time such as "2026-03-06T12:00:00Z", or Unix seconds, not "1099511627776"`},
		{Line: 8, Reason: "it is larger than 1048576 bytes"},
		{Line: 9, ID: "u_3/a", Reason: "the time of an event, 2242-03-16T12:56:32Z, is more than 30s ahead of this server's clock, 2026-03-06T12:00:00Z; check both clocks and the unit of the time"},
	}}, report)
	require.Equal(t, []string{"u_1", "u_4"}, list(t, s.Followers, "a"))
}

func TestReadReportBounded(t *testing.T) {
	t.Parallel()
	report, err := read(t, openStore(t), graph.Config{MaxErrors: 2, Batch: 3}, strings.Repeat(followLine("a", "a", 1)+"\n", 10))
	require.NoError(t, err)
	require.Equal(t, 10, report.Rejected)
	require.Len(t, report.Errors, 2)
}

func TestReadInvalidBodies(t *testing.T) {
	t.Parallel()
	for body, says := range map[string]string{
		"\x1f\x8b\x00":         "send it with Content-Encoding: gzip",
		"\xff\xfe{\x00":        "send UTF-8",
		"\n [\n{}]":            `line 2 is "["; write each event on one line`,
		"{\n\"type\":\"x\"}\n": "write each event on one line",
	} {
		report, err := read(t, openStore(t), graph.Config{}, body)
		require.ErrorIs(t, err, feed.ErrInvalid, "%q", body)
		require.ErrorContains(t, err, says)
		require.Zero(t, report.Accepted+report.Rejected)
	}
	report, err := read(t, openStore(t), graph.Config{}, "")
	require.NoError(t, err)
	require.Equal(t, api.Upload{Errors: []api.Rejection{}}, report)
}

// TestReadStoreFails checks the count of applied events when the store fails midway.
func TestReadStoreFails(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	var body strings.Builder
	for i := range 100 {
		body.WriteString(followLine(fmt.Sprintf("u_%d", i), "a", i+1) + "\n")
	}
	s.cut(42)
	report, err := read(t, s, graph.Config{Batch: 10}, body.String())
	require.ErrorIs(t, err, social.ErrUnavailable)
	require.ErrorContains(t, err, "applying the events of lines 41 to 50")
	require.Equal(t, 42, report.Accepted)
	require.Zero(t, report.Rejected)
	require.Len(t, list(t, s.Followers, "a"), 42)

	s.cut(-1)
	report, err = read(t, s, graph.Config{Batch: 10}, body.String())
	require.NoError(t, err, "the same body again is safe")
	require.Equal(t, 100, report.Accepted)
	require.Len(t, list(t, s.Followers, "a"), 100)
}

// TestReadRunsOfFollows reads runs of follows that have few and many distinct times, mixed with
// other events, some of them rejected.
func TestReadRunsOfFollows(t *testing.T) {
	t.Parallel()
	for _, run := range []int{1, 15, 16, 17, 400} {
		s := openStore(t)
		_, err := s.Block(t.Context(), "a", "u_3")
		require.NoError(t, err)
		var body strings.Builder
		want := api.Upload{Errors: []api.Rejection{}}
		for i := range 400 {
			fmt.Fprintln(&body, followLine(fmt.Sprintf("u_%d", i), "a", 10+i/run))
			if want.Accepted++; i == 3 {
				want.Accepted--
				want.Rejected++
				want.Errors = append(want.Errors, api.Rejection{Line: 4, ID: "u_3/a", Reason: "u_3 and a: one of the two blocks the other"})
			}
		}
		// The events of a pair stay in order, whichever way each event is written.
		fmt.Fprintln(&body, `{"type":"follow.removed","data":{"agent_id":"u_1","author_id":"a","at":1000}}`)
		fmt.Fprintln(&body, followLine("u_1", "a", 1001))
		fmt.Fprintln(&body, `{"type":"follow.removed","data":{"agent_id":"u_2","author_id":"a","at":1002}}`)
		want.Accepted += 3
		report, err := read(t, s, graph.Config{}, body.String())
		require.NoError(t, err)
		require.Equal(t, want, report)
		c, err := s.Celebrity(t.Context(), "a")
		require.NoError(t, err)
		require.EqualValues(t, 398, c.Followers)

		ahead := strings.Repeat(followLine("u_1", "b", 1<<33)+"\n", run)
		report, err = read(t, s, graph.Config{}, ahead)
		require.NoError(t, err)
		require.Equal(t, run, report.Rejected, "a time that lies ahead is wrong for each")
	}
}

func TestReadBodyTruncated(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	whole := followLine("u_1", "a", 1) + "\n"
	broken := errors.New("broken")
	report, err := graph.NewApplier(s, graph.Config{}).Read(t.Context(),
		io.MultiReader(strings.NewReader(whole+whole[:20]), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	require.Equal(t, api.Upload{Accepted: 1, Errors: []api.Rejection{}}, report)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = graph.NewApplier(s, graph.Config{}).Read(ctx, strings.NewReader(whole))
	require.ErrorIs(t, err, context.Canceled)
}

// TestEventOrder checks that the same events, in many orders and with duplicates, have
// the same result.
func TestEventOrder(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"type":"circle.changed","data":{"id":"c1","owner":"a","members":["u_1","u_2"],"at":10}}`,
		`{"type":"circle.changed","data":{"id":"c1","removed":["u_2"],"added":["u_3"],"at":11}}`,
		`{"type":"post.created","data":{"id":"post:1","author":{"id":"a","name":"Ann"},"created_at":12,"caption":"in a circle","audience":{"circles":["c1"]}}}`,
		`{"type":"post.created","data":{"id":"post:2","author":{"id":"b"},"created_at":13,"caption":"two","origin":"example.org"}}`,
		`{"type":"post.updated","data":{"id":"post:2","caption":"edited","at":14}}`,
		`{"type":"post.updated","data":{"id":"post:2","caption":"edited again","tags":["t"],"at":15}}`,
		`{"type":"engagement","data":{"id":"post:2","likes":5,"comments":1,"at":16}}`,
		`{"type":"engagement","data":{"id":"post:2","likes":4,"comments":1,"at":17}}`,
		`{"type":"post.created","data":{"id":"post:3","author":{"id":"b"},"created_at":13,"caption":"three"}}`,
		`{"type":"post.deleted","data":{"id":"post:3","at":18}}`,
		`{"type":"connections.accepted","data":{"agents":["u_1","b"],"at":19}}`,
		`{"type":"follow.removed","data":{"agent_id":"b","author_id":"u_1","at":20}}`,
		`{"type":"follow.created","data":{"agent_id":"u_2","author_id":"b","at":20}}`,
	}
	state := func(lines []string) string {
		s := openStore(t)
		report, err := read(t, s, graph.Config{Batch: 4}, strings.Join(lines, "\n"))
		require.NoError(t, err)
		require.Empty(t, report.Errors)
		var out bytes.Buffer
		fmt.Fprintln(&out, list(t, s.Members, "c1"), list(t, s.Followers, "b"), list(t, s.Following, "b"))
		for _, reader := range []string{"", "u_1", "u_2", "u_3"} {
			cards, err := s.Cards(t.Context(), reader, []social.PostVersion{{ID: "post:1"}, {ID: "post:2"}, {ID: "post:3"}})
			require.NoError(t, err)
			for _, c := range cards {
				c.Version = 0 // the number of changes depends on the order
				fmt.Fprintf(&out, "%+v %s\n", c, c.Content)
			}
		}
		return out.String()
	}
	want := state(lines)
	require.Contains(t, want, "edited again")
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 15 {
		mixed := slices.Concat(lines, lines[:r.IntN(len(lines))])
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		require.Equal(t, want, state(mixed), "seed %d: %s", seed, strings.Join(mixed, "\n"))
	}
}

// damaged is a store with a post that has an unreadable row.
type damaged struct{ *store }

func (d damaged) DeletePost(ctx context.Context, id, by string, at time.Time) error {
	if id == "post:bad" {
		return fmt.Errorf("%w: the content of %s", social.ErrDamaged, id)
	}
	return d.store.DeletePost(ctx, id, by, at)
}

// TestEventOfDamagedPostRefused checks that such an event is rejected instead of being retried
// for ever, and that the other events are applied.
func TestEventOfDamagedPostRefused(t *testing.T) {
	body := `{"type":"post.deleted","data":{"id":"post:bad","at":"2026-03-06T11:00:00Z"}}` + "\n" + followLine("a", "b", 1)
	r, err := read(t, damaged{openStore(t)}, graph.Config{}, body)
	require.NoError(t, err)
	require.Equal(t, 1, r.Accepted)
	require.Len(t, r.Errors, 1)
}
