package graph_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/graph"
)

// FuzzDecode decodes lines of any shape. A rejected line is a bad event. An accepted one means the
// same however its JSON is written, and the store either applies it or names the rule it breaks: it
// never fails on it.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"type":"post.created","data":{"id":"post:1","author":{"id":"a","name":"A"},"created_at":1,"caption":"#x","tags":["y"],"audience":{"circles":["c"]},"mentions":["u"],"reply":"none"}}`,
		`{"type":"post.created","data":{"id":"post:2","author":{"id":"a"},"created_at":"2026-03-06T11:00:00Z","at":1.5,"caption":"x","origin":"h","grants":["u"],"url":"https://h/","object_type":"event"}}`,
		`{"type":"post.updated","data":{"id":"post:1","caption":"\u0001","tags":[],"alts":["a"],"at":2}}`,
		`{"type":"post.deleted","data":{"id":"post:1","at":253402300799}}`,
		`{"type":"follow.created","data":{"agent_id":"u","author_id":"@server","at":1}}`,
		`{"type":"follow.removed","data":{"agent_id":"u","author_id":"a","at":1e0}}`,
		`{"type":"connections.accepted","data":{"agents":["a","b"],"at":1}}`,
		`{"type":"connections.removed","data":{"agents":["a","b"],"at":1}}`,
		`{"type":"circle.changed","data":{"id":"c","owner":"a","name":"n","members":["u"],"at":1}}`,
		`{"type":"circle.changed","data":{"id":"c","added":["u","u"],"removed":["u"],"at":1}}`,
		`{"type":"circle.changed","data":{"id":"c","deleted":true,"at":1}}`,
		`{"type":"engagement","data":{"id":"post:1","likes":9007199254740992,"comments":0,"at":1}}`,
	} {
		f.Add([]byte(seed))
	}
	s := openStore(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := graph.Decode(line)
		if err != nil {
			require.ErrorIs(t, err, feed.ErrInvalid)
			_ = e.ID()
			return
		}
		var plain any
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.UseNumber()
		require.NoError(t, dec.Decode(&plain))
		again, err := json.Marshal(plain)
		require.NoError(t, err)
		same, err := graph.Decode(again)
		require.NoError(t, err)
		require.Equal(t, e, same)
		if err := e.Apply(t.Context(), s); err != nil {
			require.True(t, feed.Refused(err), "%s: %v", line, err)
		}
	})
}
