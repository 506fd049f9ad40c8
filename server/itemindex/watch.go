// Package itemindex starts to use the configured index of items, and watches it: it may belong to
// another program, may not exist yet, and may change.
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

// recheckPause is the least time between two checks caused by answers that do not fit.
const recheckPause = time.Second

// langsPause is the least time between two reads of the items' languages.
const langsPause = time.Minute

// Watch starts to use Elasticsearch: it creates missing indices, reads the mapping, and completes
// one search, because the first searches of a node that has just started may fail. A server is not
// ready until this startup is complete. Afterwards it watches the index for changes.
type Watch struct {
	client esindex.Client
	cfg    configs.Config
	log    *slog.Logger
	schema *esindex.LateSchema // used by the backends, once it is known

	checking sync.Mutex
	langs    rate.Sometimes  // limits how often the items' languages are read
	found    *esindex.Report // the report of the schema; nil means not read yet

	mu      sync.Mutex
	why     error  // why the startup is not complete; nil means it is
	refused error  // why the last recall after the startup was refused; nil means it was not
	blocked string // the setting that blocks writes; "" if none does

	woken chan struct{} // holds a value if the next visit should come soon
}

// Schema returns the schema for the backends, which can be used once it is known.
func (w *Watch) Schema() *esindex.LateSchema { return w.schema }

// ContentDecides is a [recall.ContentDecides] of the index as last used. For an index that was never read,
// it reports true only if Freshet manages the index or the profile has no mutes and no languages.
func (w *Watch) ContentDecides(p *feed.Profile) bool {
	schema := w.schema.Last()
	if schema != nil {
		return schema.ContentDecides(p)
	}
	return w.cfg.Elasticsearch.ManageIndex || !p.HasMutes()
}

// hurry makes the next visit come soon.
func (w *Watch) hurry() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// New returns the watch of the configured index. Try and Begin start to use it.
func New(client esindex.Client, cfg configs.Config, log *slog.Logger) *Watch {
	w := &Watch{client: client, cfg: cfg, log: log, schema: &esindex.LateSchema{}, why: errors.New(notReached), woken: make(chan struct{}, 1), langs: rate.Sometimes{Interval: langsPause}}
	w.schema.Watch(recheckPause, w.recheck, w.hurry)
	return w
}

// Try reads the mapping for the first time, and with elasticsearch.manage_index creates missing
// indices. It returns an error if the index cannot be used, but not if Elasticsearch does not
// answer.
func (w *Watch) Try(ctx context.Context) error {
	err := w.inspect(ctx)
	if unavailable(err) {
		w.log.WarnContext(ctx, "Elasticsearch is down; serving what can be served without it", "error", err)
		return nil
	}
	return err
}

// inspect is [Watch.Try], but returns every error.
func (w *Watch) inspect(ctx context.Context) error {
	if w.found != nil {
		return nil
	}
	index := w.cfg.Elasticsearch.Index
	if w.cfg.Elasticsearch.ManageIndex {
		// Indices that exist and cannot be used are not changed.
		if report, err := Inspect(ctx, w.client, w.cfg); err == nil && report.Err() != nil {
			return report.Err()
		}
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
		return fmt.Errorf("%w; run freshet doctor for details", err)
	}
	if err := report.Err(); err != nil {
		return err
	}
	if report, err = w.addFields(ctx, report); err != nil {
		return err
	}
	for _, p := range report.Problems {
		w.log.WarnContext(ctx, "elasticsearch index", "index", index, "problem", p.String())
	}
	w.found = &report
	return nil
}

// addFields adds the fields of folded tags and of the latest act to an index that an older version
// of Freshet created, and those of the half-lives that a setting names. Without the right to do so, it leaves the index unchanged.
func (w *Watch) addFields(ctx context.Context, report esindex.Report) (esindex.Report, error) {
	keep := w.cfg.HalfLives()
	hasFields := report.Schema.Folded && report.Schema.Acts && report.Schema.More&keep == keep
	if hasFields || !w.cfg.Elasticsearch.ManageIndex {
		return report, nil
	}
	index := w.cfg.Elasticsearch.Index
	if err := esindex.AddFields(ctx, w.client, index, Fields(w.cfg), keep); err != nil {
		if unavailable(err) && !esindex.IsType(err, "cluster_block_exception") { // recall works in spite of a write block
			return report, err
		}
		w.log.WarnContext(ctx, "cannot add fields; searches match tags only with the same spelling, live popularity before an item's latest act is extrapolated, and that of further half-lives is off", "index", index, "error", err)
		return report, nil
	}
	w.log.InfoContext(ctx, "added fields that the index lacked", "index", index)
	return Inspect(ctx, w.client, w.cfg)
}

// Waiting returns the reason why the startup is not complete, or nil if it is.
func (w *Watch) Waiting() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why
}

// recordAttempt records the outcome of a startup attempt, and logs it if it has changed.
func (w *Watch) recordAttempt(ctx context.Context, err error) {
	w.mu.Lock()
	before := w.why
	w.why = err
	w.mu.Unlock()
	switch {
	case err == nil:
		w.log.InfoContext(ctx, "Elasticsearch is in use")
	case !unavailable(err) && err.Error() != before.Error():
		w.log.ErrorContext(ctx, "Elasticsearch cannot be used; this server is not ready", "error", err)
	}
}
