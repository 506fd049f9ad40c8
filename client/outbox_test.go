package client_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
)

func changeLines(text string, asked *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Query().Get("after"))
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = fmt.Fprint(w, text)
	}
}

// TestChangesResume checks that an answer that was cut off, and a server that is busy, neither lose nor
// repeat a change.
func TestChangesResume(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var after []string
		s := &scripted{answers: []http.HandlerFunc{
			changeLines(`{"cursor":"c1.x.1"}`+"\n", &after),
			changeLines(`{"cursor":"c1.x.2","type":"follow.created","data":{"at":1,"agent_id":"a","author_id":"b"}}`+"\n"+`{"cursor":"c1.x.3","ty`, &after),
			refusal(http.StatusServiceUnavailable, 50301),
			changeLines("", &after),
			changeLines(`{"cursor":"c1.x.3","type":"post.deleted","data":{"at":2,"id":"post:1"}}`+"\n"+`{"cursor":"c1.x.3"}`+"\n", &after),
			changeLines(`{"cursor":"c1.x.4"}`+"\n", &after),
			refusal(http.StatusGone, 41001),
		}}
		var noticed int
		c, err := client.New("http://server", client.WithHTTPClient(inProcess(s.ServeHTTP)),
			client.WithRetryNotice(func(error, time.Duration) { noticed++ }))
		require.NoError(t, err)
		var got []string
		var last error
		for change, err := range c.Changes(t.Context(), "") {
			last = err
			if err == nil {
				got = append(got, change.Cursor+" "+change.Type)
			}
		}
		require.Equal(t, []string{"c1.x.1 ", "c1.x.2 follow.created", "c1.x.3 post.deleted", "c1.x.4 "}, got)
		require.Equal(t, []string{"", "c1.x.1", "c1.x.2", "c1.x.2", "c1.x.3"}, after)
		require.Equal(t, 2, noticed)
		var refused *client.Error
		require.ErrorAs(t, last, &refused)
		require.Equal(t, http.StatusGone, refused.Status)
	})
}

func TestChangesEndWithContext(t *testing.T) {
	t.Parallel()
	c, err := client.New("http://server", client.WithHTTPClient(inProcess(refusal(http.StatusServiceUnavailable, 50301))))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range c.Changes(ctx, client.FromOldest, "follow.created") {
		require.ErrorIs(t, err, context.Canceled)
	}
}
