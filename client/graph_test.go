package client_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
)

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
