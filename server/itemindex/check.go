package itemindex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/server/health"
)

// recallRefused is the reason in /readyz if Elasticsearch answers, but refuses to recall.
const recallRefused = "it refuses the search that recalls items; see the log or freshet doctor"

// notReached is the reason in /readyz until Elasticsearch has answered a search.
const notReached = "it has not answered a search since this server started"

// Check returns the state of Elasticsearch. It is required until the startup is complete, so that a
// new server gets no readers before it can answer them, and optional after that, because all
// servers lose it together. left returns the remaining time for which the fallback list may replace
// recall.
func (w *Watch) Check(left func() time.Duration) health.Check {
	return func(ctx context.Context) handler.Dependency {
		if err := w.Waiting(); err != nil {
			return handler.Dependency{Err: err, Reason: w.reason(err, withCause(notReached, err))}
		}
		err := esindex.Ping(ctx, w.client, w.cfg.Elasticsearch.Index)
		refused := w.refusal()
		if err == nil && refused != nil {
			return handler.Dependency{Err: refused, Optional: true, Reason: w.reason(refused, recallRefused), Left: left()}
		}
		blocked := w.writesBlocked()
		if err == nil && blocked != "" {
			return handler.Dependency{Err: errBlocked, Optional: true, Reason: errBlocked.Error() + ": " + blocked, Left: left()}
		}
		return handler.Dependency{Err: err, Optional: true, Reason: answered(err), Left: left()}
	}
}

// withCause appends to a text why Elasticsearch did not answer, if that is known.
func withCause(text string, err error) string {
	cause := cmp.Or(handler.PublicCause(err), answered(err))
	if cause != "" {
		return text + ": " + cause
	}
	return text
}

// errBlocked means that a setting blocks writes.
var errBlocked = errors.New("reachable, but writes are refused")

// writesBlocked returns the setting that blocks writes, or "".
func (w *Watch) writesBlocked() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.blocked
}

// answered returns the text in /readyz for an error response, which may be a proxy's, or for one of
// another program, or "" if there was no response.
func answered(err error) string {
	err = handler.LastFailure(err)
	var other *esindex.OtherProductError
	if errors.As(err, &other) {
		return fmt.Sprintf("what responds (%d %s) is not Elasticsearch 8", other.Status, http.StatusText(other.Status))
	}
	var e *esindex.Error
	if !errors.As(err, &e) {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("it, or a proxy in front of it, responds %d %s", e.Status, http.StatusText(e.Status)))
}

// reason returns the text in /readyz if the index is unusable, missing, or closed, and otherwise
// the given text.
func (w *Watch) reason(err error, otherwise string) string {
	index := w.cfg.Elasticsearch.Index
	switch {
	case errors.Is(err, esindex.ErrUnusable):
		return err.Error()
	case esindex.Missing(err):
		return "there is no index " + index + "; restore it, or create it with freshet doctor --fix"
	case esindex.Gone(err):
		return "the index " + index + " is closed; open it"
	}
	return otherwise
}
