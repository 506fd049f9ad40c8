package catalog_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/ndjson"
)

// shelf is a writer that records the items in order and fails on demand.
type shelf struct {
	items   []feed.Item
	batches []int
	perItem func(feed.Item) error
	whole   func(batch int) error
}

func (s *shelf) Put(_ context.Context, items []feed.Item) ([]error, error) {
	s.batches = append(s.batches, len(items))
	if s.whole != nil {
		if err := s.whole(len(s.batches)); err != nil {
			return nil, err
		}
	}
	var errs []error
	for i, it := range items {
		if s.perItem != nil {
			if err := s.perItem(it); err != nil {
				if errs == nil {
					errs = make([]error, len(items))
				}
				errs[i] = err
				continue
			}
		}
		s.items = append(s.items, it)
	}
	return errs, nil
}

func (s *shelf) Remove(context.Context, string) error { return feed.ErrNotFound }

func (s *shelf) Update(context.Context, []string, func(feed.Item) (feed.Item, error)) ([]catalog.Updated, error) {
	return nil, catalog.ErrUnavailable
}

func (s *shelf) ids() string {
	ids := make([]string, len(s.items))
	for i, it := range s.items {
		ids[i] = it.ID
	}
	return strings.Join(ids, " ")
}

func line(id string) string { return fmt.Sprintf(`{"id":%q,"title":"T","update_time":1}`, id) }

// big returns an item of exactly n bytes.
func big(id string, n int) string {
	l := line(id)
	return l[:len(l)-1] + `,"x":"` + strings.Repeat("x", n-len(l)-7) + `"}`
}

// told formats a report for comparison: a line number, an id and a reason per rejection.
func told(r api.Upload) []string {
	out := []string{}
	for _, e := range r.Errors {
		out = append(out, fmt.Sprintf("%d %s: %s", e.Line, e.ID, e.Reason))
	}
	return out
}

func TestIngest(t *testing.T) {
	const max = feed.MaxItemBytes
	for _, tc := range []struct {
		name, body string
		ids        string   // accepted, in order
		rejected   []string // beginnings of "line id: reason"
		err        string   // part of the error about the body
	}{
		{name: "nothing", err: "it is empty"},
		{name: "only spaces", body: " \r\n\n\t ", err: "it is empty"},
		{name: "only a byte order mark", body: "\ufeff", err: "it is empty"},
		{name: "lines", body: line("a") + "\n" + line("b") + "\n", ids: "a b"},
		{name: "no last line feed", body: line("a") + "\n" + line("b"), ids: "a b"},
		{
			name: "CRLF, blank lines, mark, spaces", body: "\ufeff\r\n" + line("a") + "\r\n \t\r\n  " + line("b") + " \r\n\r\n{}", ids: "a b",
			rejected: []string{"6 : id is missing"},
		},
		{
			name: "bad lines between good ones", body: strings.Join([]string{
				line("a"), `{"id":"b","title":`, `{"id":"c","title":null,"update_time":1}`, `[1]`, `hello`, line("d"), `{"id":7}`,
				`{"id":"x y","title":"T","update_time":1}`, line("e") + ",", `{"title":"T","id":"f","id":"f"}`,
			}, "\n"), ids: "a d",
			rejected: []string{
				"2 b: bad JSON", "3 c: title is missing", "4 : the JSON must be an object, not an array", "5 : bad JSON", "7 : id must be a string, not a number",
				`8 x y: bad id: id has " "`, "9 e: bad JSON at byte", `10 f: duplicate field "id"`,
			},
		},
		{name: "not UTF-8", body: "{\"id\":\"a\",\"title\":\"\xff\",\"update_time\":1}\n" + line("b"), ids: "b", rejected: []string{"1 a: bad JSON at byte 19 in title: invalid UTF-8"}},
		{
			name: "largest line", body: big("a", max) + "\r\n" + big("b", max+1) + "\n" + big("c", 3*max) + "\n" + line("d") + "\n" + big("e", 2*max), ids: "a d",
			rejected: []string{"2 b: it has 262145 bytes", "3 c: it exceeds", "5 e: it exceeds"},
		},
		{name: "first line too big", body: big("a", 2*max) + "\n" + line("b"), ids: "b", rejected: []string{"1 a: it exceeds"}},
		{name: "first line cut short", body: `{"id":"a",` + "\n" + line("b"), ids: "b", rejected: []string{"1 a: bad JSON"}},
		{name: "only line cut short", body: `{"id":"a",`, rejected: []string{"1 a: bad JSON"}},
		{name: "one object over several lines", body: "\n{\n  \"id\": \"a\",\n  \"title\": \"T\"\n}\n", err: "line 2 begins an object that continues on the next line"},
		{name: "the same id twice", body: line("a") + "\n" + line("a"), ids: "a a"},
		{name: "UTF-16", body: "\xff\xfe{\x00", err: "UTF-16"},
		{name: "gzip unannounced", body: "\x1f\x8b\x08\x00", err: "gzip"},
		{name: "ZIP, such as .xlsx", body: "PK\x03\x04\x14\x00\x00\x00", err: "it is a ZIP archive, as .xlsx is"},
		{name: "zstd", body: "\x28\xb5\x2f\xfd\x24\n\n", err: "it is zstd"},
		{name: "xz", body: "\xfd7zXZ\x00\x00\n", err: "it is xz"},
		{name: "bzip2", body: "BZh91AY&SY\n\n", err: "it is bzip2"},
		{name: "Parquet", body: "PAR1\x15\x04\x15\n", err: "it is Parquet"},
		{name: "no bzip2", body: "BZh!\n" + line("a"), ids: "a", rejected: []string{"1 : "}},

		{name: "empty array", body: " [ ] \n"},
		{name: "array", body: "\ufeff\n[" + line("a") + ",\r\n\t" + line("b") + "]", ids: "a b"},
		{name: "pretty array", body: "[\n  {\n    \"id\": \"a\",\n    \"title\": \"],}{\\\"\",\n    \"update_time\": 1\n  }\n]\n", ids: "a"},
		{
			name: "bad elements between good ones", body: "[" + strings.Join([]string{
				line("a"), `{"id":"b"}`, `null`, `1.5`, `"text"`, `[[],{}]`, `{}`, line("c"), `true `,
			}, " , ") + "]", ids: "a c",
			rejected: []string{
				"2 b: title is missing", "3 : the JSON must be an object, not null", "4 : the JSON must be an object, not a number",
				"5 : the JSON must be an object, not a string", "6 : the JSON must be an object, not an array", "7 : id is missing", "9 : the JSON must be an object, not a boolean",
			},
		},
		{name: "array, not UTF-8", body: "[{\"id\":\"a\",\"title\":\"\xff\",\"update_time\":1}," + line("b") + "]", ids: "b", rejected: []string{"1 a: bad JSON at byte 19 in title: invalid UTF-8"}},
		{
			name: "largest element", body: "[" + big("a", max) + "," + big("b", max+1) + "," + big("c", 3*max) + "," + line("d") + "]", ids: "a d",
			rejected: []string{"2 b: it exceeds", "3 c: it exceeds"},
		},
		{name: "broken element", body: "[" + line("a") + `,{"id":"b",},` + line("c") + "]", ids: "a", err: "element 2 of the array: bad JSON at byte 9"},
		{name: "brackets that do not match", body: "[" + line("a") + `,{"id":[}]},` + line("c") + "]", ids: "a", err: "element 2 of the array: bad JSON"},
		{name: "closed twice", body: "[" + line("a") + `},` + line("c") + "]", ids: "a", err: "element 1 of the array: it is followed by '}'"},
		{name: "no comma", body: "[" + line("a") + " " + line("b") + "]", ids: "a", err: `element 1 of the array: it is followed by '{'`},
		{name: "no comma and no space", body: "[" + line("a") + "," + line("b") + line("c") + "]", ids: "a b", err: `element 2 of the array: it is followed by '{'`},
		{name: "comma too many", body: "[" + line("a") + ",]", ids: "a", err: "element 2 of the array: it is missing"},
		{name: "commas only", body: "[,]", err: "element 1 of the array: it is missing"},
		{name: "bracket instead of an element", body: "[}]", err: "element 1 of the array: it is missing"},
		{name: "array without an end", body: "[" + line("a") + ",", ids: "a", err: "element 2 of the array: the array is not closed"},
		{name: "array without a bracket", body: "[" + line("a"), ids: "a", err: "element 1 of the array: the array is not closed after it"},
		{name: "array that ends within an element", body: "[" + line("a") + `,{"id":"b`, ids: "a", err: "element 2 of the array: it is incomplete"},
		{name: "something after the array", body: "[" + line("a") + "]\n" + line("b"), ids: "a", err: `the array is followed by '{'`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"at once":      strings.NewReader(tc.body),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tc.body)),
			} {
				w := &shelf{}
				report, err := catalog.NewIngest(w, catalog.IngestConfig{}).Read(t.Context(), r)
				require.Equal(t, tc.ids, w.ids(), name)
				require.Equal(t, len(w.items), report.Accepted, name)
				require.Equal(t, len(tc.rejected), report.Rejected, "%s: %v", name, told(report))
				require.NotNil(t, report.Errors)
				for i, got := range told(report) {
					require.True(t, strings.HasPrefix(got, tc.rejected[i]), "%s: %q should begin with %q", name, got, tc.rejected[i])
				}
				if tc.err == "" {
					require.NoError(t, err, name)
				} else {
					require.ErrorIs(t, err, feed.ErrInvalid, name)
					require.ErrorContains(t, err, tc.err, name)
				}
			}
		})
	}
}

func TestIngestBatches(t *testing.T) {
	var body strings.Builder
	for i := range 2500 {
		fmt.Fprintln(&body, line(fmt.Sprint("i", i)))
	}
	w := &shelf{}
	report, err := catalog.NewIngest(w, catalog.IngestConfig{}).Read(t.Context(), strings.NewReader(body.String()))
	require.NoError(t, err)
	require.Equal(t, 2500, report.Accepted)
	require.Equal(t, []int{1000, 1000, 500}, w.batches)

	body.Reset()
	for i := range 50 {
		fmt.Fprintln(&body, big(fmt.Sprint("b", i), 200<<10))
	}
	w = &shelf{}
	report, err = catalog.NewIngest(w, catalog.IngestConfig{}).Read(t.Context(), strings.NewReader(body.String()))
	require.NoError(t, err)
	require.Equal(t, 50, report.Accepted)
	require.Equal(t, []int{21, 21, 8}, w.batches, "4 MiB are 21 items of 200 KiB")
}

func TestIngestErrorListBounded(t *testing.T) {
	body := strings.Repeat("{}\n", 50) + line("a")
	report, err := catalog.NewIngest(&shelf{}, catalog.IngestConfig{Config: ndjson.Config{MaxErrors: 7}}).Read(t.Context(), strings.NewReader(body))
	require.NoError(t, err)
	require.Equal(t, 50, report.Rejected)
	require.Equal(t, 1, report.Accepted)
	require.Len(t, report.Errors, 7)
	require.Equal(t, 7, report.Errors[6].Line)
}

func TestIngestReportsRefusedItems(t *testing.T) {
	w := &shelf{perItem: func(it feed.Item) error {
		if strings.HasPrefix(it.ID, "no") {
			return errors.New("mapping refuses it")
		}
		return nil
	}}
	body := line("a") + "\n\n" + line("no1") + "\n{}\n" + line("b") + "\n" + line("no2") + "\n"
	report, err := catalog.NewIngest(w, catalog.IngestConfig{Config: ndjson.Config{Batch: 3}}).Read(t.Context(), strings.NewReader(body))
	require.NoError(t, err)
	require.Equal(t, api.Upload{Accepted: 2, Rejected: 3, Errors: []api.Rejection{
		{Line: 3, ID: "no1", Reason: "mapping refuses it"}, {Line: 4, Reason: "id is missing"}, {Line: 6, ID: "no2", Reason: "mapping refuses it"},
	}}, report)
	require.Equal(t, "a b", w.ids())
}

func TestIngestCatalogDown(t *testing.T) { synctest.Test(t, ingestStops) }

func ingestStops(t *testing.T) {
	cause := errors.New("connection refused")
	for _, failure := range []error{cause, fmt.Errorf("%w: %w", catalog.ErrUnavailable, cause)} {
		for _, body := range []string{
			line("a") + "\n" + line("b") + "\n{}\n" + line("c") + "\n" + line("d") + "\n" + line("e"),
			"[" + line("a") + "," + line("b") + ",{}," + line("c") + "," + line("d") + "," + line("e") + "]",
		} {
			w := &shelf{whole: func(batch int) error {
				if batch >= 2 {
					return failure
				}
				return nil
			}}
			report, err := catalog.NewIngest(w, catalog.IngestConfig{Config: ndjson.Config{Batch: 2}}).Read(t.Context(), strings.NewReader(body))
			require.ErrorIs(t, err, catalog.ErrUnavailable)
			require.ErrorIs(t, err, cause)
			require.ErrorContains(t, err, "lines 4 to 5")
			require.Equal(t, 2, report.Accepted)
			require.Equal(t, 1, report.Rejected)
			require.Equal(t, "a b", w.ids())
			for _, n := range w.batches {
				require.Equal(t, 2, n, "nothing of a later batch is put after a failure")
			}
		}
	}
}

func TestIngestReadError(t *testing.T) {
	var zipped bytes.Buffer
	zw := gzip.NewWriter(&zipped)
	_, err := io.WriteString(zw, line("a")+"\n"+line("b")+"\n"+line("c"))
	require.NoError(t, err)
	require.NoError(t, zw.Close())
	zr, err := gzip.NewReader(bytes.NewReader(zipped.Bytes()[:zipped.Len()-4]))
	require.NoError(t, err)

	cause := errors.New("request body too large")
	for _, tc := range []struct {
		name string
		r    io.Reader
		is   error
		ids  string
	}{
		{"lines", io.MultiReader(strings.NewReader(line("a")+"\n"+line("b")+"\n"+line("c")), iotest.ErrReader(cause)), cause, "a b"},
		{"array", io.MultiReader(strings.NewReader("["+line("a")+","+line("b")+`,{"id":"c"`), iotest.ErrReader(cause)), cause, "a b"},
		{"array between elements", io.MultiReader(strings.NewReader("["+line("a")+","+line("b")), iotest.ErrReader(cause)), cause, "a b"},
		{"at once", iotest.ErrReader(cause), cause, ""},
		{"gzip cut short", zr, io.ErrUnexpectedEOF, "a b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &shelf{}
			report, err := catalog.NewIngest(w, catalog.IngestConfig{}).Read(t.Context(), tc.r)
			require.ErrorIs(t, err, tc.is)
			require.NotErrorIs(t, err, feed.ErrInvalid)
			require.NotErrorIs(t, err, catalog.ErrUnavailable)
			require.Equal(t, tc.ids, w.ids())
			require.Equal(t, len(w.items), report.Accepted)
			require.Zero(t, report.Rejected)
		})
	}
}

func TestIngestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &shelf{whole: func(int) error { cancel(); return nil }}
	body := strings.Repeat(line("a")+"\n", 10)
	report, err := catalog.NewIngest(w, catalog.IngestConfig{Config: ndjson.Config{Batch: 3}}).Read(ctx, strings.NewReader(body))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 3, report.Accepted)
}

// endless is a body whose line never ends.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	n := min(len(p), e.left)
	if e.left -= n; n == 0 {
		return 0, io.EOF
	}
	for i := range n {
		p[i] = 'x'
	}
	return n, nil
}

func TestIngestOversizedLineNotBuffered(t *testing.T) {
	for _, before := range []string{"", `[{"id":"a","x":"`} {
		body := func(n int) io.Reader { return io.MultiReader(strings.NewReader(before), &endless{left: n}) }
		read := func(n int) float64 {
			return testing.AllocsPerRun(2, func() {
				_, _ = catalog.NewIngest(&shelf{}, catalog.IngestConfig{}).Read(t.Context(), body(n))
			})
		}
		small, large := read(1<<20), read(5<<20)
		// Storing the line, or reading it in chunks of 64 KiB, would add 64 allocations. A few may
		// vary because garbage collections empty pools.
		require.InDelta(t, small, large, 16, "allocations do not grow with the line")
	}
}

func TestIngestIntoSQLite(t *testing.T) {
	c, err := catalogsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "c.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	var body strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&body, `{"id":"i%d","title":"Title %d","update_time":%d,"price":%d.50}`+"\n", i, i, i+1, i)
	}
	in := catalog.NewIngest(c, catalog.IngestConfig{})
	for range 2 { // sending the same body again is safe
		report, err := in.Read(t.Context(), strings.NewReader(body.String()))
		require.NoError(t, err)
		require.Equal(t, api.Upload{Accepted: 3000, Errors: []api.Rejection{}}, report)
	}
	n := 0
	for it, err := range c.Scan(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%d.50", it.UpdateTime-1), string(it.Business["price"]))
		n++
	}
	require.Equal(t, 3000, n)
}

func TestReportJSON(t *testing.T) {
	data, err := json.Marshal(api.Upload{Accepted: 1, Rejected: 2, Errors: []api.Rejection{{Line: 3, ID: "a", Reason: "r"}, {Line: 4, Reason: "s"}}})
	require.NoError(t, err)
	require.JSONEq(t, `{"accepted":1,"rejected":2,"errors":[{"line":3,"id":"a","reason":"r"},{"line":4,"reason":"s"}]}`, string(data))
}

// Items that link to the same page form a group, unless they name one.
func TestIngestGroupsByLink(t *testing.T) {
	body := `{"id":"a","title":"A","update_time":1,"url":"https://www.example.com/x/?utm_source=feed"}
{"id":"b","title":"B","update_time":1,"url":"http://example.com/x#top"}
{"id":"c","title":"C","update_time":1,"url":"http://example.com/x","group_id":"own"}
{"id":"d","title":"D","update_time":1}`
	for by, want := range map[bool][]string{
		true:  {"https://example.com/x", "https://example.com/x", "own", "d"},
		false: {"a", "b", "own", "d"},
	} {
		w := &shelf{}
		report, err := catalog.NewIngest(w, catalog.IngestConfig{GroupByURL: by}).Read(t.Context(), strings.NewReader(body))
		require.NoError(t, err)
		require.Equal(t, 4, report.Accepted)
		var groups []string
		for _, it := range w.items {
			groups = append(groups, it.Group())
		}
		require.Equal(t, want, groups)
	}
}
