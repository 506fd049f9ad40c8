package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

// recallRefused is the reason in /readyz where Elasticsearch answers, but recalls nothing.
const recallRefused = "it refuses the search that recalls items; the log and freshet doctor say why"

// notReached is the reason in /readyz until Elasticsearch is in use.
const notReached = "it has not answered a search since this server started"

// lookPause is the least time between two looks at the mapping because of answers that
// do not fit.
const lookPause = time.Second

// elasticStartup begins to use Elasticsearch: it creates missing indices, reads
// the mapping, and has one search answered, because the first ones of a node
// that has just started may fail. A server starts while none of that is
// possible, and is not ready until all of it is done. From then on it watches
// whether the index changes.
type elasticStartup struct {
	client esindex.Client
	cfg    configs.Config
	log    *slog.Logger
	schema *esindex.LateSchema // of the backends, which can be used once it is known

	looking sync.Mutex
	found   *esindex.Report // what the schema is of; nil: not read yet

	mu      sync.Mutex
	why     error // why it is not done; nil: it is
	refused error // why the last recall after it was refused; nil: it was not

	woken chan struct{} // holds a value where the next visit should come soon
}

// tells is a [recall.Tells] of the index as it was used last. One that was never read
// tells nothing unless Freshet has made it.
func (e *elasticStartup) tells(p *feed.Profile) bool {
	if schema := e.schema.Last(); schema != nil {
		return schema.Tells(p)
	}
	return e.cfg.Elasticsearch.ManageIndex || !p.HasMutes()
}

// hurry has Elasticsearch visited soon.
func (e *elasticStartup) hurry() {
	select {
	case e.woken <- struct{}{}:
	default:
	}
}

func newElasticStartup(client esindex.Client, cfg configs.Config, log *slog.Logger) *elasticStartup {
	e := &elasticStartup{client: client, cfg: cfg, log: log, schema: &esindex.LateSchema{}, why: errors.New(notReached), woken: make(chan struct{}, 1)}
	e.schema.Watch(lookPause, e.doubt, e.hurry)
	return e
}

// inspect reads the mapping, once. What is missing it makes, with
// elasticsearch.manage_index.
func (e *elasticStartup) inspect(ctx context.Context) error {
	if e.found != nil {
		return nil
	}
	index := e.cfg.Elasticsearch.Index
	if e.cfg.Elasticsearch.ManageIndex {
		created, err := esindex.Ensure(ctx, e.client, index, esindex.Definition{Fields: indexFields(e.cfg)})
		if err != nil {
			return fmt.Errorf("create the index %s: %w", index, err)
		}
		if len(created) > 0 {
			e.log.InfoContext(ctx, "created", "indices", created)
		}
	}
	report, err := inspectIndex(ctx, e.client, e.cfg)
	if err == nil && report.Err() == nil && e.cfg.Elasticsearch.ManageIndex {
		report, err = e.extend(ctx, report)
	}
	if err != nil {
		return fmt.Errorf("%w; freshet doctor says more", err)
	}
	if err := report.Err(); err != nil {
		return err
	}
	for _, p := range report.Problems {
		e.log.WarnContext(ctx, "elasticsearch index", "index", index, "problem", p.String())
	}
	e.found = &report
	return nil
}

// inspectIndex reads the mapping. An index that is Freshet's must have the token
// fields: without them keywords would be matched by another analyzer, to which C++
// is C, and items that are stored already would never get them.
func inspectIndex(ctx context.Context, client esindex.Client, cfg configs.Config) (esindex.Report, error) {
	report, err := esindex.Inspect(ctx, client, cfg.Elasticsearch.Index, indexFields(cfg))
	if err == nil && cfg.Elasticsearch.ManageIndex && !report.Schema.Tokens {
		report.Problems = append(report.Problems, esindex.Problem{Field: noTokens, Name: esindex.DefaultTitleTokens, Fatal: true, Message: makeAnew})
	}
	report.Schema.Others = !cfg.Elasticsearch.ManageIndex
	return report, err
}

const (
	noTokens = "title_tokens"
	makeAnew = "the index lacks the fields of tokens that Freshet's own has; delete it or name another one in elasticsearch.index, start freshet, " +
		"which makes it, and upload the items again; if the index is not Freshet's, set elasticsearch.manage_index: false"
)

// extend adds to the index what an older version did not map, and reads the
// mapping again. A server that may not change mappings goes on without.
func (e *elasticStartup) extend(ctx context.Context, report esindex.Report) (esindex.Report, error) {
	index, fields := e.cfg.Elasticsearch.Index, indexFields(e.cfg)
	added, err := esindex.Extend(ctx, e.client, index, report.Schema, esindex.Definition{Fields: fields})
	switch {
	case errors.Is(err, esindex.ErrUnavailable):
		return report, err
	case err != nil:
		e.log.WarnContext(ctx, "the index lacks fields, so pages are built or live popularity ranks without them; run freshet doctor --fix with a user who may", "error", err)
	case len(added) > 0:
		e.log.InfoContext(ctx, "added to the mapping; items have the fields from when they are put again", "index", index, "fields", added)
		return inspectIndex(ctx, e.client, e.cfg)
	}
	return report, nil
}

// waiting returns why the startup is not done; nil: it is.
func (e *elasticStartup) waiting() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.why
}

// tried notes how a try ended, and logs what the one before did not.
func (e *elasticStartup) tried(ctx context.Context, err error) {
	e.mu.Lock()
	before := e.why
	e.why = err
	e.mu.Unlock()
	switch {
	case err == nil:
		e.log.InfoContext(ctx, "Elasticsearch has answered the first search")
	case !unavailable(err) && err.Error() != before.Error():
		e.log.ErrorContext(ctx, "Elasticsearch cannot be used; this server is not ready", "error", err)
	}
}

// refusal returns why the last recall since the startup was refused; nil: it was not.
func (e *elasticStartup) refusal() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refused
}

// recalled notes how a recall since the startup ended, and logs what the one before
// did not. One that got no answer says nothing of the index.
func (e *elasticStartup) recalled(ctx context.Context, err error) {
	if unavailable(err) {
		return
	}
	e.mu.Lock()
	before := e.refused
	e.refused = err
	e.mu.Unlock()
	if err != nil {
		e.hurry() // to know when it is usable again
	}
	switch {
	case err != nil && (before == nil || e.reason(err) != e.reason(before) || !esindex.Gone(err) && err.Error() != before.Error()):
		e.log.ErrorContext(ctx, "Elasticsearch recalls no items", "error", err)
	case err == nil && before != nil:
		e.log.InfoContext(ctx, "Elasticsearch recalls items again")
	}
}

// unavailable reports whether Elasticsearch gave no answer about the index. That the
// index is not there, or not as it has to be, is one.
func unavailable(err error) bool {
	silent := errors.Is(err, esindex.ErrUnavailable) || errors.Is(err, recall.ErrUnavailable)
	return silent && !esindex.Gone(err) && !errors.Is(err, esindex.ErrUnusable)
}

// reason is the text for a refusal in /readyz.
func (e *elasticStartup) reason(refused error) string {
	switch {
	case errors.Is(refused, esindex.ErrUnusable):
		return refused.Error()
	case esindex.Gone(refused):
		return e.gone(refused)
	}
	return recallRefused
}

// gone says that the index is missing, or closed.
func (e *elasticStartup) gone(err error) string {
	if esindex.Missing(err) {
		return "there is no index " + e.cfg.Elasticsearch.Index + "; restore it, or make it with freshet doctor --fix"
	}
	return "the index " + e.cfg.Elasticsearch.Index + " is closed; open it"
}

// doubt is called where an answer does not fit the mapping, or a recall was refused with
// cause, once the startup is done.
func (e *elasticStartup) doubt(ctx context.Context, cause error) {
	if e.waiting() != nil {
		return
	}
	err := e.look(ctx)
	if err == nil && esindex.Gone(cause) { // a closed index can be looked at
		err = cause
	}
	if err != nil && ctx.Err() == nil {
		e.recalled(ctx, err)
	}
}

// look reads the mapping again. What fits is taken over; with what does not nothing is
// recalled or written until it does.
func (e *elasticStartup) look(ctx context.Context) error {
	e.looking.Lock()
	defer e.looking.Unlock()
	report, err := inspectIndex(ctx, e.client, e.cfg)
	if err != nil {
		return err // a missing index says so to each search
	}
	if err := errors.Join(report.Err(), report.Lost(*e.found)); err != nil {
		e.schema.Refuse(err)
		return err
	}
	e.takeOver(ctx, report)
	return nil
}

// takeOver uses a mapping that fits, where it is another one than before.
func (e *elasticStartup) takeOver(ctx context.Context, report esindex.Report) {
	now, err := e.schema.Get()
	if err == nil && *now == report.Schema {
		return
	}
	e.found = &report
	e.schema.Set(report.Schema)
	e.log.InfoContext(ctx, "the index has changed and is used as it is mapped now", "index", e.cfg.Elasticsearch.Index, "indices", report.Indices)
	for _, p := range report.Problems {
		e.log.WarnContext(ctx, "elasticsearch index", "index", e.cfg.Elasticsearch.Index, "problem", p.String())
	}
}

// openElastic makes the client and tries it once: what is wrong with the index
// is an error, that it does not answer is not.
func (a *App) openElastic(ctx context.Context, c *clients) (err error) {
	if c.elastic, err = ConnectElastic(a.cfg, a.log); err != nil {
		return err
	}
	if a.hooks.Elastic != nil {
		c.elastic = a.hooks.Elastic(c.elastic)
	}
	c.startup = newElasticStartup(c.elastic, a.cfg, a.log)
	a.checks["elasticsearch"] = c.startup.check(func() time.Duration { return standbyLeft(a.stores.fronts) })
	err = c.startup.inspect(ctx)
	if unavailable(err) {
		a.log.WarnContext(ctx, "Elasticsearch is down; serving what can be served without it", "error", err)
		return nil
	}
	return err
}

// check returns the state of Elasticsearch. It is required until the startup is
// done, so that a new server gets no readers before it can answer them, and
// optional after that, because all servers lose it together. An index that another
// program has changed may answer while nothing can be recalled from it.
func (e *elasticStartup) check(left func() time.Duration) check {
	return func(ctx context.Context) handler.Dependency {
		switch err := e.waiting(); {
		case errors.Is(err, esindex.ErrUnusable):
			return handler.Dependency{Err: err, Reason: err.Error()}
		case esindex.Gone(err):
			return handler.Dependency{Err: err, Reason: e.gone(err)}
		case err != nil:
			return handler.Dependency{Err: err, Reason: notReached}
		}
		err := pingElastic(ctx, e.client)
		if refused := e.refusal(); err == nil && refused != nil {
			return handler.Dependency{Err: refused, Optional: true, Reason: e.reason(refused), Left: left()}
		}
		return handler.Dependency{Err: err, Optional: true, Left: left()}
	}
}

// startElastic does the startup, at once where Elasticsearch answers and else in
// the background, and then recalls now and then: to renew the list that is served
// while it is down, and to know that it can be recalled from.
func (a *App) startElastic(ctx context.Context) {
	if a.clients.startup == nil {
		return
	}
	if a.clients.startup.found != nil { // else there was no answer a moment ago
		a.visitElastic(ctx)
	}
	a.background(ctx, func(ctx context.Context) {
		every(ctx, a.pauses.mapping, func(ctx context.Context) { a.clients.startup.doubt(ctx, nil) })
	})
	a.background(ctx, func(ctx context.Context) {
		for {
			pause, woken := a.pauses.standby, a.clients.startup.woken
			if a.clients.startup.waiting() != nil {
				pause = a.pauses.warmUp
			}
			next := time.After(pause)
			for waiting := true; waiting; {
				select {
				case <-next:
					waiting = false
				case <-woken:
					next, woken = time.After(a.pauses.warmUp), nil
				case <-ctx.Done():
					return
				}
			}
			a.visitElastic(ctx)
		}
	})
}

// visitElastic tries the startup once, or recalls once it is done.
func (a *App) visitElastic(ctx context.Context) {
	e := a.clients.startup
	if e.waiting() != nil {
		if err := a.warmUp(ctx); ctx.Err() == nil {
			e.tried(ctx, err)
		}
		return
	}
	err := e.look(ctx)
	if err == nil {
		err = a.recallForAll(ctx)
	}
	if ctx.Err() == nil {
		e.recalled(ctx, err)
	}
}

// warmUp makes the backends usable, which they are not before the ranking in
// force is known, and sends the warm-up query.
func (a *App) warmUp(ctx context.Context) error {
	e := a.clients.startup
	if err := e.inspect(ctx); err != nil {
		return err
	}
	if err := a.ranking.Sync(ctx); err != nil {
		return err
	}
	e.schema.Set(e.found.Schema)
	return a.recallForAll(ctx)
}

// recallForAll recalls the empty profile from each source, and keeps the answer, which
// stands in while Elasticsearch is down.
func (a *App) recallForAll(ctx context.Context) error {
	schema, err := a.clients.startup.schema.Get()
	if err != nil {
		return err
	}
	docs := func(ctx context.Context, ids []string) ([]feed.Doc, error) {
		found, err := a.stores.contents.Docs(ctx, ids)
		if now, changed := a.clients.startup.schema.Get(); changed != nil || *now != *schema {
			err = cmp.Or(err, changed, fmt.Errorf("%w: the mapping has changed", esindex.ErrUnavailable))
		}
		return found, err
	}
	q := feed.Query{Ranking: a.ranking.InForce().Live.Ranking, Origin: a.clock().UTC(), N: a.cfg.Recall.N}
	for _, front := range a.stores.fronts {
		if err := front.Renew(ctx, q, docs, schema.Tells); err != nil {
			return err
		}
	}
	return nil
}
