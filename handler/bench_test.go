package handler

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

func benchDocs() []feed.Doc {
	docs := make([]feed.Doc, 20)
	for i := range docs {
		docs[i].ID = fmt.Sprintf("doc_%d", i)
		docs[i].JSON = json.RawMessage(fmt.Sprintf(
			`{"id":"doc_%d","title":"A title of the length that titles have, number %d","update_time":1770000000,"url":"https://example.org/%d","author_id":"someone","tags":["go","databases"],"likes":12,"comments":3}`, i, i, i))
	}
	return docs
}

func BenchmarkDecodeFeed(b *testing.B) {
	body := []byte(`{"action":"load_more","limit":20,"request_id":"3f2a9c1e77b04d5d"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeFeed(body, "u_1"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendPage(b *testing.B) {
	req := engine.Request{RequestID: "3f2a9c1e77b04d5d"}
	answer := engine.Answer{Docs: benchDocs(), HasMore: true}
	buf := appendPage(nil, &req, &answer)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = appendPage(buf[:0], &req, &answer)
	}
}

// discard is a response writer without cost.
type discard struct {
	h http.Header
	n int
}

func (d *discard) Header() http.Header         { return d.h }
func (d *discard) Write(p []byte) (int, error) { d.n += len(p); return len(p), nil }
func (d *discard) WriteHeader(int)             {}

type rewound struct{ strings.Reader }

func (*rewound) Close() error { return nil }

// BenchmarkPostFeed measures the whole request except for the network and the engine, including the
// log line.
//
// It runs for clients that accept the plain answer, and for compressed ones.
func BenchmarkPostFeed(b *testing.B) {
	for _, encoding := range []string{"identity", "gzip", "zstd"} {
		b.Run(encoding, func(b *testing.B) { benchmarkPostFeed(b, encoding) })
	}
}

func benchmarkPostFeed(b *testing.B, encoding string) {
	answer := engine.Answer{Docs: benchDocs(), HasMore: true}
	f := newFixture(b, func(_ *Config, d *Deps) {
		d.Log = slog.New(slog.NewJSONHandler(io.Discard, nil))
	})
	f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) { return answer, nil }
	const text = `{"action":"load_more","limit":20}`
	var body rewound
	r := httptest.NewRequest("POST", "/v1/feed", nil)
	r.Body, r.ContentLength = &body, int64(len(text))
	r.Header.Set("X-Agent-ID", "u_10086")
	r.Header.Set("Accept-Encoding", encoding)
	w := &discard{h: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.h)
		body.Reset(text)
		f.handler.ServeHTTP(w, r)
	}
	require.Equal(b, encoding == "identity", w.h.Get("Content-Length") != "")
	b.ReportMetric(float64(w.n)/float64(b.N), "sent-B/op")
}
