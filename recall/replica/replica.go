// Package replica keeps a copy of the items of an Elasticsearch index in this process and recalls
// from it, so that Elasticsearch does not score every item for every reader.
//
// The copy follows the index by sequence numbers: each shard numbers its changes, and once a
// second the follower reads the documents whose last change has a higher number than those it has
// read, up to the shard's global checkpoint. The first read of an index is the same work from
// number zero. The copy only proposes items: what was deleted or changed since is decided when the
// content is read, as with candidates of Elasticsearch.
//
// Until the copy is complete, and while it is more than [MaxLag] behind, Elasticsearch answers.
package replica

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

// MaxLag is how far the copy may be behind the index and still answer.
const MaxLag = 5 * time.Second

// Index is the copy, a recall index in this process.
type Index interface {
	recall.Source
	recall.Explainer
	recall.Indexer
	recall.Counter
	DeleteAll(ids []string) // like Delete of each, at once
	Has(id string) bool
	Len() int              // number of items
	IDs() iter.Seq[string] // of the items, in any order; items written meanwhile may be missing
}

// Elastic is the source over the index that is copied.
type Elastic interface {
	recall.Source
	recall.Explainer
	recall.Refuser
}

// Config configures a [Source]. All fields but Logger are required.
type Config struct {
	Index    string              // the name of one index that Freshet manages
	Schema   *esindex.LateSchema // of it
	Elastic  Elastic
	NewIndex func() Index
	Clock    feed.Clock
	Timeout  time.Duration // of one request
	Logger   *slog.Logger  // nil disables logging
}

// Source is a [recall.Source] that answers from the copy while it is complete and current, and
// otherwise asks Elasticsearch. Create it with [New] and start [Source.Run].
type Source struct {
	cfg      Config
	client   esindex.Client
	follower *follower
	serving  atomic.Pointer[serving] // nil until a copy is complete
	loading  atomic.Pointer[Progress]

	mu      sync.Mutex
	missing map[string]struct{} // ids that a read did not find, to be checked
}

var (
	_ recall.Source    = (*Source)(nil)
	_ recall.Explainer = (*Source)(nil)
	_ recall.Refuser   = (*Source)(nil)
)

// serving is a complete copy and the moment whose state of the index it has.
type serving struct {
	index Index
	at    time.Time
}

// New returns a source without a copy. It makes no request.
func New(client esindex.Client, cfg Config) *Source {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := &Source{cfg: cfg, client: client, missing: map[string]struct{}{}}
	s.follower = &follower{Source: s}
	return s
}

// current returns the copy if it may answer now, else nil.
func (s *Source) current() Index {
	copied := s.serving.Load()
	if copied == nil || s.cfg.Clock().Sub(copied.at) > MaxLag {
		return nil
	}
	return copied.index
}

// Name returns the name of the source that answers now.
func (s *Source) Name() string {
	index := s.current()
	if index != nil {
		return index.Name()
	}
	return s.cfg.Elastic.Name()
}

// cursorMark begins the cursors of the copy; those of Elasticsearch begin otherwise.
const cursorMark = "m:"

// Recall implements [recall.Source]. The source that answered the first round of a query answers
// its later rounds.
func (s *Source) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	after, ours := strings.CutPrefix(q.After, cursorMark)
	var index Index
	switch {
	case ours:
		copied := s.serving.Load() // though it may be behind by now
		if copied == nil {
			return recall.Result{}, fmt.Errorf("%w: the index changed between two rounds", recall.ErrUnavailable)
		}
		index, q.After = copied.index, after
	case q.After == "":
		index = s.current()
	}
	if index == nil {
		fromElastic.Inc()
		return s.cfg.Elastic.Recall(ctx, q)
	}
	fromMemory.Inc()
	result, err := index.Recall(ctx, q)
	if result.Next != "" {
		result.Next = cursorMark + result.Next
	}
	return result, err
}

// Explain implements [recall.Explainer]: it explains the scores of the source that answers now.
func (s *Source) Explain(ctx context.Context, q feed.Query, ids []string) ([]recall.Factors, error) {
	index := s.current()
	if index != nil {
		return index.Explain(ctx, q, ids)
	}
	return s.cfg.Elastic.Explain(ctx, q, ids)
}

// Refused implements [recall.Refuser].
func (s *Source) Refused(ctx context.Context, p *feed.Profile, ids []string) (map[string]bool, error) {
	return s.cfg.Elastic.Refused(ctx, p, ids)
}

// Watch returns the catalog, whose reads report the items that they do not find as [Source.Missing].
func (s *Source) Watch(c catalog.Catalog) catalog.Catalog { return watched{c, s} }

// watched is a catalog whose reads report missing items.
type watched struct {
	catalog.Catalog
	source *Source
}

// Docs implements [catalog.Reader].
func (w watched) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	docs, err := w.Catalog.Docs(ctx, ids)
	w.report(docs, err)
	return docs, err
}

// Hydrate implements [catalog.Catalog].
func (w watched) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	docs, p, err := w.Catalog.Hydrate(ctx, agent, ids)
	w.report(docs, err)
	return docs, p, err
}

func (w watched) report(docs []feed.Doc, err error) {
	if err != nil {
		return
	}
	for i := range docs {
		if docs[i].Missing() {
			w.source.Missing([]string{docs[i].ID})
		}
	}
}

// maxMissing is how many ids are remembered until they are checked. Others are found by the
// comparison of all ids.
const maxMissing = 10_000

// Missing reports ids that a read of contents did not find. The follower removes those that the
// index does not have either.
func (s *Source) Missing(ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if len(s.missing) < maxMissing {
			s.missing[id] = struct{}{}
		}
	}
}

// takeMissing returns the ids reported since the last call.
func (s *Source) takeMissing() map[string]struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.missing) == 0 {
		return nil
	}
	ids := s.missing
	s.missing = map[string]struct{}{}
	return ids
}

// Progress is the state of a copy that is being read.
type Progress struct{ Items, Of int }

// State describes the copy: the number of its items, and why Elasticsearch answers instead; "" if
// the copy answers.
func (s *Source) State() (items int, why string) {
	copied := s.serving.Load()
	if copied == nil {
		p := s.loading.Load()
		if p == nil {
			return 0, "recall from memory waits for Elasticsearch; until then it recalls from there"
		}
		return p.Items, fmt.Sprintf("recall from memory is reading the items: %d of about %d; until then Elasticsearch recalls", p.Items, p.Of)
	}
	behind := s.cfg.Clock().Sub(copied.at)
	if behind > MaxLag {
		why = fmt.Sprintf("recall from memory is %s behind the index; until it has caught up Elasticsearch recalls", behind.Round(time.Second))
	}
	return copied.index.Len(), why
}
