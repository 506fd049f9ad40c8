// Package itemindex begins to use the index of items that a configuration names, and
// watches it: it may be of another program, may not be there yet, and may change.
package itemindex

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// lookPause is the least time between two looks because of answers that do not fit.
const lookPause = time.Second

// langsPause is the least time between two looks at the languages of the items.
const langsPause = time.Minute

// Watch begins to use Elasticsearch: it creates missing indices, reads the mapping, and has one
// search answered, because the first ones of a node that has just started may fail. A server is
// not ready until all of it is done. From then on it watches whether the index changes.
type Watch struct {
	client esindex.Client
	cfg    configs.Config
	log    *slog.Logger
	schema *esindex.LateSchema // of the backends, which can be used once it is known

	looking sync.Mutex
	langs   rate.Sometimes  // the languages of the items are read now and then
	found   *esindex.Report // what the schema is of; nil: not read yet

	mu      sync.Mutex
	why     error // why it is not done; nil: it is
	refused error // why the last recall after it was refused; nil: it was not

	woken chan struct{} // holds a value where the next visit should come soon
}

// Schema is the mapping for the backends, which can be used once it is known.
func (w *Watch) Schema() *esindex.LateSchema { return w.schema }

// Tells is a [recall.Tells] of the index as it was used last. One that was never read
// tells nothing unless Freshet has made it.
func (w *Watch) Tells(p *feed.Profile) bool {
	if schema := w.schema.Last(); schema != nil {
		return schema.Tells(p)
	}
	return w.cfg.Elasticsearch.ManageIndex || !p.HasMutes()
}

// hurry has Elasticsearch visited soon.
func (w *Watch) hurry() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// New returns the watch of the index of a configuration. Try and Begin begin to use it.
func New(client esindex.Client, cfg configs.Config, log *slog.Logger) *Watch {
	w := &Watch{client: client, cfg: cfg, log: log, schema: &esindex.LateSchema{}, why: errors.New(notReached), woken: make(chan struct{}, 1), langs: rate.Sometimes{Interval: langsPause}}
	w.schema.Watch(lookPause, w.doubt, w.hurry)
	return w
}

// Try reads the mapping for the first time, and makes what is missing with
// elasticsearch.manage_index. What is wrong with the index is an error, that it does not
// answer is not.
func (w *Watch) Try(ctx context.Context) error {
	err := w.inspect(ctx)
	if unavailable(err) {
		w.log.WarnContext(ctx, "Elasticsearch is down; serving what can be served without it", "error", err)
		return nil
	}
	return err
}

// inspect is [Watch.Try] without regard to what the error is.
func (w *Watch) inspect(ctx context.Context) error {
	if w.found != nil {
		return nil
	}
	index := w.cfg.Elasticsearch.Index
	if w.cfg.Elasticsearch.ManageIndex {
		created, err := esindex.Ensure(ctx, w.client, index, Fields(w.cfg))
		if err != nil {
			return fmt.Errorf("create the index %s: %w", index, err)
		}
		if len(created) > 0 {
			w.log.InfoContext(ctx, "created", "indices", created)
		}
	}
	report, err := Inspect(ctx, w.client, w.cfg)
	if err != nil {
		return fmt.Errorf("%w; freshet doctor says more", err)
	}
	if err := report.Err(); err != nil {
		return err
	}
	if report, err = w.addFolded(ctx, report); err != nil {
		return err
	}
	for _, p := range report.Problems {
		w.log.WarnContext(ctx, "elasticsearch index", "index", index, "problem", p.String())
	}
	w.found = &report
	return nil
}

// addFolded adds the fields of folded tags to an index of Freshet's own that an older version
// has made. Without the right to do so it goes on without them.
func (w *Watch) addFolded(ctx context.Context, report esindex.Report) (esindex.Report, error) {
	if report.Schema.Folded || !w.cfg.Elasticsearch.ManageIndex {
		return report, nil
	}
	index := w.cfg.Elasticsearch.Index
	if err := esindex.AddFolded(ctx, w.client, index); err != nil {
		if unavailable(err) && !esindex.IsType(err, "cluster_block_exception") { // a block of writes lets recall read
			return report, err
		}
		w.log.WarnContext(ctx, "the fields of folded tags cannot be added; tags are searched for as they are written", "index", index, "error", err)
		return report, nil
	}
	w.log.InfoContext(ctx, "added the fields of folded tags", "index", index)
	return Inspect(ctx, w.client, w.cfg)
}

// Waiting returns why the startup is not done; nil: it is.
func (w *Watch) Waiting() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why
}

// tried notes how a try ended, and logs what the one before did not.
func (w *Watch) tried(ctx context.Context, err error) {
	w.mu.Lock()
	before := w.why
	w.why = err
	w.mu.Unlock()
	switch {
	case err == nil:
		w.log.InfoContext(ctx, "Elasticsearch has answered the first search")
	case !unavailable(err) && err.Error() != before.Error():
		w.log.ErrorContext(ctx, "Elasticsearch cannot be used; this server is not ready", "error", err)
	}
}
