package client_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
)

// TestHeadersOfFollows checks that the names of columns are no follow, and that CSV is told what to do.
func TestHeadersOfFollows(t *testing.T) {
	t.Parallel()
	var got []string
	c := connect(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		zr, err := gzip.NewReader(r.Body)
		require.NoError(t, err)
		body, err := io.ReadAll(zr)
		require.NoError(t, err)
		got = strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
		answer(w, 200, fmt.Sprintf(`{"code":0,"msg":"success","data":{"accepted":%d,"rejected":0,"errors":[]}}`, len(got)))
	}))
	for file, follows := range map[string]int{
		"Follower\tFollowee\r\na\tb\n":   1,
		"FOLLOWER_ID\tAUTHOR_ID\na\tb\n": 1,
		"agent_id\tauthor_id\na\tb\n":    1,
		"a\tb\nfollower\tauthor\nc\td\n": 2,
		"a\tb\nagent\tauthor\n":          2, // agents may have such names
		"follower\tb\n":                  1,
	} {
		_, err := c.IngestGraph(t.Context(), strings.NewReader(file), time.Now(), nil)
		require.NoError(t, err)
		require.Len(t, got, follows, file)
	}
	var reason string
	_, err := c.IngestGraph(t.Context(), strings.NewReader("Account address,Show boosts\n"), time.Now(), func(r client.Rejection) { reason = r.Reason })
	require.NoError(t, err)
	require.Contains(t, reason, "from a CSV file, write these two columns, with a tab")
}

// TestIngestGraph sends follows in columns and as events, and checks the lines that the server
// receives.
func TestIngestGraph(t *testing.T) {
	t.Parallel()
	var got []string
	c := connect(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "POST /v1/graph/events", r.Method+" "+r.URL.Path)
		zr, err := gzip.NewReader(r.Body)
		require.NoError(t, err)
		body, err := io.ReadAll(zr)
		require.NoError(t, err)
		got = strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
		answer(w, 200, `{"code":0,"msg":"success","data":{"accepted":2,"rejected":1,"errors":[{"line":3,"id":"c/c","reason":"no"}]}}`)
	}))
	const file = "\xef\xbb\xbffollower\tauthor\r\n7\t12\r\n\nno columns\na\tb\tc\n{\"type\":\"x\"}\nc\tc\"\n"
	for _, body := range [][]byte{[]byte(file), zipped(file)} {
		rejected := map[int]string{}
		sum, err := c.IngestGraph(context.Background(), bytes.NewReader(body), time.Date(2026, 3, 6, 13, 0, 0, 5e8, time.FixedZone("", 3600)),
			func(r client.Rejection) { rejected[r.Line] = r.Reason })
		require.NoError(t, err)
		require.Equal(t, []string{
			`{"type":"follow.created","data":{"agent_id":"7","author_id":"12","at":"2026-03-06T12:00:00.5Z"}}`,
			`{"type":"x"}`,
			`{"type":"follow.created","data":{"agent_id":"c","author_id":"c\"","at":"2026-03-06T12:00:00.5Z"}}`,
		}, got)
		require.Equal(t, client.Summary{Accepted: 2, Rejected: 3, Requests: 1}, sum)
		require.Len(t, rejected, 3)
		require.Contains(t, rejected[4], "two columns, follower and author")
		require.Contains(t, rejected[5], "two columns")
		require.Equal(t, "no", rejected[7])
	}
}
