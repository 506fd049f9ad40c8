package events

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
)

// BenchmarkSums measures the cost of counting a page of twenty items, which is done outside the
// request path.
func BenchmarkSums(b *testing.B) {
	now := time.Unix(1_772_798_400, 0)
	docs := make([]feed.Doc, 20)
	for i := range docs {
		docs[i] = feed.Doc{JSON: json.RawMessage(fmt.Sprintf(
			`{"id":"doc_%d","title":"A title of quite the usual length, about something","update_time":%d,"url":"https://example.com/%d","author_id":"author_%d","tags":["go","data"],"likes":12}`,
			i, now.Unix()-int64(i*i*100), i, i%7))}
	}
	s := newSums("s", 200_000)
	agents := make([]string, 1000)
	for i := range agents {
		agents[i] = fmt.Sprint("u_", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.addPage("control", 0, &Delivery{Agent: agents[i%len(agents)], Docs: docs}, now)
	}
}
