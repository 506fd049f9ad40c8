package elastic_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	recallelastic "github.com/freshet/freshet/recall/elastic"
)

// recorder stores the body of the last request, so that the benchmark can repeat it without the
// source.
type recorder struct{ body []byte }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		r.body, _ = io.ReadAll(body)
	}
	return http.DefaultTransport.RoundTrip(req)
}

// BenchmarkRecall500 measures a recall of 500 real posts, and for comparison the same request alone
// with its answer discarded: with one Gaussian, with several curves that never reach the floor, and
// with curves that do.
func BenchmarkRecall500(b *testing.B) {
	posts := testenv.Posts(b)
	s, client, name := open(b, posts)
	q := ask(feed.Profile{Interests: map[string]float64{"show-hn": 3, "github.com": 2}, Keywords: feed.Keywords("go", "rust")})
	q.Origin, q.N = time.Unix(posts[len(posts)-1].UpdateTime, 0), 500
	two, err := feed.Preset(feed.PresetTwo)
	require.NoError(b, err)
	falling := feed.Decay{Floor: two.Floor, Curves: feed.Curves{two.Curves[0], two.Curves[1]}}
	for _, decay := range []struct {
		name  string
		decay feed.Decay
	}{{"single", ranking.Decay}, {"two", two}, {"two-falling", falling}} {
		q.Ranking.Decay = decay.decay
		b.Run(decay.name, func(b *testing.B) { benchmarkRecall(b, s, client, name, q) })
	}
}

func benchmarkRecall(b *testing.B, s *recallelastic.Source, client esindex.Client, name string, q feed.Query) {
	rec := &recorder{}
	address, _ := testenv.Elastic(b)
	through, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}, Transport: rec})
	require.NoError(b, err)
	_, err = recallelastic.New(through, recallelastic.Config{Index: name, Schema: ownSchema()}).Recall(b.Context(), q)
	require.NoError(b, err)

	b.Run("recall", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, err := s.Recall(b.Context(), q)
			if err != nil || len(r.Candidates) != 500 {
				b.Fatal(len(r.Candidates), err)
			}
		}
	})
	b.Run("raw", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			err := esindex.Do(b.Context(), client, http.MethodPost, "/"+name+"/_search",
				"allow_partial_search_results=false&filter_path=error,status,hits.hits.sort", rec.body, nil)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
