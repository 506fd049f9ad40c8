package itemindex

import (
	"context"
	"errors"
	"net/http"

	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

// refusal returns the reason why the last recall since the startup was refused, or nil if it was
// not.
func (w *Watch) refusal() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refused
}

// recordRecall records the outcome of a recall after the startup, and logs changes. A recall that got
// no answer is no evidence about the index.
func (w *Watch) recordRecall(ctx context.Context, err error) {
	if unavailable(err) {
		if w.refusal() != nil {
			w.hurry() // shards that were just opened may not answer yet, but will answer the next recall
		}
		return
	}
	w.mu.Lock()
	before := w.refused
	w.refused = err
	w.mu.Unlock()
	if err != nil {
		w.hurry() // to notice soon when the index is usable again
	}
	switch {
	case err != nil && w.isOther(err, before):
		w.log.ErrorContext(ctx, "recall from Elasticsearch fails", "error", err)
	case err == nil && before != nil:
		w.log.InfoContext(ctx, "recall from Elasticsearch works again")
	}
}

// isOther reports whether an error is of another kind than the one before; nil is no error.
func (w *Watch) isOther(err, before error) bool {
	if before == nil || w.reason(err, recallRefused) != w.reason(before, recallRefused) {
		return true
	}
	return !esindex.Gone(err) && err.Error() != before.Error()
}

// unavailable reports whether Elasticsearch gave no answer about the index. That the index does not
// exist, or does not fit, is an answer.
func unavailable(err error) bool {
	silent := errors.Is(err, esindex.ErrUnavailable) && !esindex.Refused(err) || errors.Is(err, recall.ErrUnavailable)
	return silent && !esindex.Gone(err) && !errors.Is(err, esindex.ErrUnusable)
}

// recheck is called after the startup if an answer does not fit the mapping, or if a recall was
// refused with cause.
func (w *Watch) recheck(ctx context.Context, cause error) {
	if w.Waiting() != nil {
		return
	}
	err := w.checkMapping(ctx)
	if err == nil && cause != nil {
		w.renew(ctx) // where the address leads now the index is as it should be
	}
	if cause != nil && (unavailable(err) || ctx.Err() != nil) {
		w.hurry() // the caller's deadline was too short for the check, or it had no answer
	}
	if err == nil && esindex.Gone(cause) { // the mapping of a closed index can be read
		err = cause
	}
	if err != nil && ctx.Err() == nil {
		w.recordRecall(ctx, err)
	}
}

// checkMapping reads the mapping again. A mapping that fits is adopted; otherwise nothing is recalled or
// written until it fits.
func (w *Watch) checkMapping(ctx context.Context) error {
	w.checking.Lock()
	defer w.checking.Unlock()
	report, err := inspect(esindex.Over(ctx, esindex.NewConnection), w.client, w.cfg)
	if err != nil {
		return err // if the index is missing, each search reports it
	}
	if report.Schema.UUIDs != w.found.Schema.UUIDs {
		w.renew(ctx) // the address may lead to another cluster
	}
	if err := errors.Join(report.Err(), report.Lost(*w.found)); err != nil {
		w.schema.Refuse(err)
		return err
	}
	read := func() { err = report.Schema.ReadLangs(ctx, w.client, w.cfg.Elasticsearch.Index) }
	if report.Schema.UUIDs == w.found.Schema.UUIDs {
		report.Schema.Langs = w.found.Schema.Langs
		w.langs.Do(read)
	} else {
		read()
	}
	if err != nil {
		return err
	}
	w.takeOver(ctx, report)
	return nil
}

// renew replaces the connections, which may lead to a node or cluster that the address no longer
// leads to.
func (w *Watch) renew(ctx context.Context) {
	if err := esindex.Renew(ctx, w.client); err != nil && ctx.Err() == nil {
		w.log.WarnContext(ctx, "the new connection to Elasticsearch got no answer", "error", err)
	}
}

// checkWrites checks whether a setting blocks writes, or the user lacks the right to write.
func (w *Watch) checkWrites(ctx context.Context) {
	blocked, err := w.findBlock(ctx)
	if err != nil {
		return // the other checks report that
	}
	w.mu.Lock()
	before := w.blocked
	w.blocked = blocked
	w.mu.Unlock()
	switch {
	case blocked != "" && blocked != before:
		w.log.WarnContext(ctx, "Elasticsearch refuses writes", "reason", blocked)
	case blocked == "" && before != "":
		w.log.InfoContext(ctx, "Elasticsearch accepts writes again")
	}
}

// takeOver adopts a mapping that fits, if it has changed.
func (w *Watch) takeOver(ctx context.Context, report esindex.Report) {
	now, err := w.schema.Get()
	if err == nil && *now == report.Schema {
		return
	}
	w.found = &report
	w.schema.Set(report.Schema)
	if err == nil {
		before := *now
		before.Langs = report.Schema.Langs
		if before == report.Schema {
			return // items in another language do not change the index
		}
	}
	w.log.InfoContext(ctx, "the index has changed; its new mapping is used", "index", w.cfg.Elasticsearch.Index, "indices", report.Indices)
	for _, p := range report.Problems {
		w.log.WarnContext(ctx, "elasticsearch index", "index", w.cfg.Elasticsearch.Index, "problem", p.String())
	}
}

// lasts reports whether a refused write is refused until somebody changes something. A block of the whole
// cluster is none of the settings of an index; 503 is one that begins or ends with its master.
func lasts(refused *esindex.Error) bool {
	if esindex.IsType(refused, "cluster_block_exception") {
		return refused.Status != http.StatusServiceUnavailable
	}
	return esindex.Refused(refused) && !esindex.Gone(refused)
}

// findBlock returns what prevents writes to an index that Freshet writes to, "" if nothing does.
func (w *Watch) findBlock(ctx context.Context) (string, error) {
	index := w.cfg.Elasticsearch.Index
	found, err := esindex.CheckSettings(ctx, w.client, index)
	for _, s := range found {
		if s.BlocksWrites() {
			return s.Name + " of " + s.Index + " is " + s.Value, nil
		}
	}
	if err != nil && esindex.Privilege(err) == "" {
		return "", err
	}
	for _, name := range Written(w.cfg) {
		err := esindex.TryWrite(ctx, w.client, name)
		if esindex.Privilege(err) != "" {
			return "its user lacks the privilege write for " + name, nil
		}
		var refused *esindex.Error
		if errors.As(err, &refused) && lasts(refused) {
			return name + ": " + refused.Reason, nil
		}
	}
	return "", nil
}
