package catalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/ndjson"
)

// FuzzIngest ingests bodies of any shape. The report must match the stored items regardless of how
// the body is split into reads, and account for every good array and every line.
func FuzzIngest(f *testing.F) {
	for _, seed := range []string{
		"", " \n", "\ufeff" + line("a"), line("a") + "\r\n" + line("b"), "[" + line("a") + ",\n" + line("b") + "]", `[1,"a,]",{"b":[{}]},null]`,
		"[{]}", "[}", "[,]", "[" + line("a") + ",]", "{\n\"id\":\"a\"\n}", `{"id":"a"` + "\n" + line("b"), "[\"\\\"]\"]", "\x1f\x8b", "[]]", "[[[", "{\"id\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		read := func(r io.Reader) (*shelf, api.Upload, error) {
			w := &shelf{}
			report, err := catalog.NewIngest(w, catalog.IngestConfig{Config: ndjson.Config{Batch: 3}}).Read(t.Context(), r)
			require.Equal(t, len(w.items), report.Accepted)
			require.Len(t, report.Errors, min(report.Rejected, 1000))
			return w, report, err
		}
		w, report, err := read(bytes.NewReader(body))
		if err != nil {
			require.ErrorIs(t, err, feed.ErrInvalid)
		}
		for _, it := range w.items {
			require.NoError(t, it.Validate())
		}
		w2, report2, err2 := read(iotest.HalfReader(bytes.NewReader(body)))
		require.Equal(t, w.items, w2.items)
		require.Equal(t, report, report2)
		require.Equal(t, errors.Is(err, feed.ErrInvalid), errors.Is(err2, feed.ErrInvalid))

		text := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\ufeff")), " \t\r\n")
		if bytes.HasPrefix(text, []byte("[")) && len(body) < feed.MaxItemBytes {
			var elements []json.RawMessage
			wantErr := json.Unmarshal(text, &elements)
			require.Equal(t, wantErr == nil, err == nil, "an array is read to its end exactly if it is JSON: %v, %v", wantErr, err)
			if err == nil {
				require.Equal(t, len(elements), report.Accepted+report.Rejected)
			}
		} else if err == nil {
			lines := 0
			for l := range bytes.Lines(text) {
				if len(bytes.Trim(l, " \t\r\n")) > 0 {
					lines++
				}
			}
			require.Equal(t, lines, report.Accepted+report.Rejected)
		}
	})
}

func BenchmarkIngest(b *testing.B) {
	var body bytes.Buffer
	for range 1000 {
		body.WriteString(`{"id":"doc_9527","title":"A headline of a usual length","update_time":1772000000,"summary":"A sentence that says what it is about.",` +
			`"url":"https://example.com/a/b","author_id":"author_12","lang":"en","tags":["go","databases"],"likes":12,"comments":3}` + "\n")
	}
	in := catalog.NewIngest(discard{}, catalog.IngestConfig{})
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := in.Read(b.Context(), bytes.NewReader(body.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{ catalog.Writer }

func (discard) Put(context.Context, []feed.Item) ([]error, error) { return nil, nil }
