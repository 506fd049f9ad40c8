package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// busy is a writer with a planned outcome for each try: a word with one letter per entry, s for
// stored, u for unavailable and r for refused. W is a try in which the whole call is unavailable, B
// one that fails for another reason. After the plan everything is stored.
type busy struct {
	shelf
	plan  []string
	tries []string // the ids of each try
}

func (b *busy) next(ids []string) (outcome string, err error) {
	b.tries = append(b.tries, strings.Join(ids, ""))
	if len(b.plan) == 0 {
		return strings.Repeat("s", len(ids)), nil
	}
	outcome, b.plan = b.plan[0], b.plan[1:]
	switch outcome {
	case "W":
		return "", fmt.Errorf("%w: busy", catalog.ErrUnavailable)
	case "B":
		return "", errors.New("broken")
	}
	return outcome, nil
}

func errorOf(outcome byte) error {
	switch outcome {
	case 'u':
		return fmt.Errorf("%w: flood stage", catalog.ErrUnavailable)
	case 'r':
		return feed.Errorf(feed.ErrInvalid, "bad item: refused")
	}
	return nil
}

func (b *busy) Put(_ context.Context, items []feed.Item) ([]error, error) {
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	outcome, err := b.next(ids)
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(items))
	for i := range errs {
		if errs[i] = errorOf(outcome[i]); errs[i] == nil {
			b.items = append(b.items, items[i])
		}
	}
	return errs, nil
}

func (b *busy) Update(_ context.Context, ids []string, change func(feed.Item) (feed.Item, error)) ([]catalog.Updated, error) {
	outcome, err := b.next(ids)
	if err != nil {
		return nil, err
	}
	all := make([]catalog.Updated, len(ids))
	for i, id := range ids {
		if all[i].Err = errorOf(outcome[i]); all[i].Err == nil {
			all[i].Item, all[i].Err = change(feed.Item{ID: id})
			b.items = append(b.items, all[i].Item)
		}
	}
	return all, nil
}

// TestIngestRetriesUnavailableItems checks that only such items are retried, and that items still
// unavailable at the end are not reported as bad lines.
func TestIngestRetriesUnavailableItems(t *testing.T) {
	t.Parallel()
	always := func(outcome string) []string { return slices.Repeat([]string{outcome}, 100) }
	for name, tt := range map[string]struct {
		ids   string
		plan  []string
		tries string // the first tries
		want  api.Upload
		fails bool
	}{
		"nothing is":                 {ids: "abc", tries: "abc", want: api.Upload{Accepted: 3}},
		"one, once":                  {ids: "abc", plan: []string{"sus"}, tries: "abc b", want: api.Upload{Accepted: 3}},
		"one, several times":         {ids: "abc", plan: []string{"suu", "us", "u"}, tries: "abc bc b b", want: api.Upload{Accepted: 3}},
		"as a whole":                 {ids: "abc", plan: []string{"W"}, tries: "abc abc", want: api.Upload{Accepted: 3}},
		"then as a whole":            {ids: "abc", plan: []string{"usu", "W"}, tries: "abc ac ac", want: api.Upload{Accepted: 3}},
		"beside a bad line":          {ids: "abc", plan: []string{"rus"}, tries: "abc b", want: api.Upload{Accepted: 2, Rejected: 1}},
		"then bad":                   {ids: "abc", plan: []string{"sus", "r"}, tries: "abc b", want: api.Upload{Accepted: 2, Rejected: 1}},
		"one for good":               {ids: "abc", plan: append([]string{"sus"}, always("u")...), tries: "abc b b", want: api.Upload{Accepted: 2}, fails: true},
		"all for good":               {ids: "abc", plan: always("uuu"), tries: "abc abc", fails: true},
		"as a whole for good":        {ids: "abc", plan: always("W"), tries: "abc abc", fails: true},
		"for good beside a bad line": {ids: "abc", plan: append([]string{"rus"}, always("u")...), tries: "abc b b", want: api.Upload{Accepted: 1, Rejected: 1}, fails: true},
		"something is broken":        {ids: "abc", plan: []string{"B"}, tries: "abc", fails: true},
	} {
		for route, line := range map[string]string{"items": `{"id":%q,"title":"T","update_time":1}`, "counts": `{"id":%q,"likes":1}`} {
			t.Run(name+"/"+route, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &busy{plan: slices.Clone(tt.plan)}
					in := catalog.NewIngest(w, catalog.IngestConfig{})
					read := in.Read
					if route == "counts" {
						read = in.Counts
					}
					var body strings.Builder
					for _, id := range strings.Split(tt.ids, "") {
						fmt.Fprintf(&body, line+"\n", id)
					}
					began := time.Now()
					got, err := read(t.Context(), strings.NewReader(body.String()))
					require.Equal(t, tt.fails, err != nil, "%v", err)
					if tt.fails {
						require.ErrorIs(t, err, catalog.ErrUnavailable)
						require.Less(t, time.Since(began), 5*time.Second, "the sender waits for it")
						require.True(t, strings.HasPrefix(strings.Join(w.tries, " "), tt.tries), "%v", w.tries)
						require.Less(t, len(w.tries), 10)
					} else {
						require.Equal(t, tt.tries, strings.Join(w.tries, " "))
					}
					require.Equal(t, [2]int{tt.want.Accepted, tt.want.Rejected}, [2]int{got.Accepted, got.Rejected})
					require.Len(t, w.items, tt.want.Accepted)
				})
			})
		}
	}
}

// TestIngestRetryKeepsLaterLine checks that retrying a line does not overwrite a later
// line with the same id.
func TestIngestRetryKeepsLaterLine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		plan  []string
		tries string
		last  string
	}{
		"the earlier is refused": {[]string{"uss"}, "aba", "later"},
		"both are":               {[]string{"usu"}, "aba aa", "later"},
		"both, then the earlier": {[]string{"usu", "us"}, "aba aa", "later"},
		"the later is":           {[]string{"ssu"}, "aba a", "later"},
		"the later is bad":       {[]string{"usr"}, "aba a", "earlier"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &busy{plan: tt.plan}
				body := `{"id":"a","title":"earlier","update_time":1}` + "\n" + line("b") + "\n" + `{"id":"a","title":"later","update_time":1}`
				_, err := catalog.NewIngest(w, catalog.IngestConfig{}).Read(t.Context(), strings.NewReader(body))
				require.NoError(t, err)
				require.Equal(t, tt.tries, strings.Join(w.tries, " "))
				var title string
				for _, it := range w.items {
					if it.ID == "a" {
						title = it.Title
					}
				}
				require.Equal(t, tt.last, title)
			})
		})
	}
}

// TestIngestCanceledDuringRetry cancels the upload while it waits for a retry.
func TestIngestCanceledDuringRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := catalog.NewIngest(&busy{plan: []string{"W"}}, catalog.IngestConfig{}).Read(ctx, strings.NewReader(line("a")))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Millisecond, time.Since(began))
	})
}
