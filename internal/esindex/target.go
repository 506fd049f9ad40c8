package esindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// WriteAlias is the alias that an index of ours is written through. Elasticsearch makes
// an index that is missing when something is written to it, and guesses the types of
// its fields. A write that requires an alias makes none: the alias of an index that
// somebody has deleted is gone with it.
func WriteAlias(index string) string { return index + "-write" }

// Target is the alias or index that documents are written to.
type Target struct {
	Name  string
	Alias bool // Name is an alias, so a write may require one
}

// FindTarget finds what to write the documents of an index to: its write alias, or
// the name itself where that is an alias. Where it is neither, or may not be looked
// up, the target is the index, which exists. An index that does not is an error that
// [Missing] knows.
func FindTarget(ctx context.Context, client Client, index string) (Target, error) {
	plain := Target{Name: index}
	if strings.ContainsAny(index, "*,") {
		return plain, nil // no write can create it
	}
	var found map[string]struct {
		Aliases map[string]json.RawMessage `json:"aliases"`
	}
	// One request for both names: between two, somebody may delete the index.
	err := Ask(ctx, client, http.MethodGet, "/"+index+","+WriteAlias(index)+"/_alias", "ignore_unavailable=true", nil, &found)
	if forbidden(err) {
		return plain, nil
	}
	if err != nil {
		return plain, err
	}
	own, concrete := found[index]
	written := 0
	for _, in := range found {
		if _, ok := in.Aliases[index]; ok {
			return Target{Name: index, Alias: true}, nil
		}
		if _, ok := in.Aliases[WriteAlias(index)]; ok {
			written++
		}
	}
	if !concrete {
		return plain, &Error{Status: http.StatusNotFound, Type: notFound, Reason: "no such index [" + index + "]"}
	}
	// Somebody else may have an alias of that name, which stands for other indices, too.
	if _, ok := own.Aliases[WriteAlias(index)]; !ok || written > 1 {
		return plain, nil
	}
	return Target{Name: WriteAlias(index), Alias: true}, nil
}

func forbidden(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusForbidden
}

// addWriteAlias gives an index that exists its write alias. A user who may not leaves
// it as it is.
func addWriteAlias(ctx context.Context, client Client, index string) error {
	target, err := FindTarget(ctx, client, index)
	if err != nil || target.Alias {
		return err
	}
	add := object{"actions": []object{{"add": object{"index": index, "alias": WriteAlias(index)}}}}
	if err := Ask(ctx, client, http.MethodPost, "/_aliases", "", add, nil); err != nil && !forbidden(err) {
		return err
	}
	return nil
}

// Writer writes to one index so that no write makes Elasticsearch create it.
type Writer struct {
	client Client
	index  string
	make   func(ctx context.Context) error
	alias  atomic.Pointer[Target] // found; nil: not yet, or not an alias
}

// NewWriter returns a writer to an index. ensure makes it where it is missing, with its
// mapping and its write alias; nil: nobody makes it, and writing is an error while it is
// missing.
func NewWriter(client Client, index string, ensure func(ctx context.Context) error) *Writer {
	return &Writer{client: client, index: index, make: ensure}
}

// Write calls send with what to write to: a name for the path, and parameters to be
// continued. Where the index is missing, or has no write alias, it is made first; send
// must return an error that [Missing] knows, having written nothing, where
// Elasticsearch answers that, and is then called again once.
func (w *Writer) Write(ctx context.Context, send func(name, params string) error) error {
	err := w.try(ctx, send)
	if !Missing(err) {
		return err
	}
	w.alias.Store(nil)
	if w.make != nil {
		if err := w.make(ctx); err != nil {
			return err
		}
	}
	return w.try(ctx, send)
}

func (w *Writer) try(ctx context.Context, send func(name, params string) error) error {
	target, err := w.target(ctx)
	if err != nil {
		return err
	}
	params := Patience(ctx)
	if target.Alias {
		params += "require_alias=true&"
	}
	return send(target.Name, params)
}

// longestWait is how long a write waits in Elasticsearch at most. That waits for a minute by
// itself.
const longestWait = 5 * time.Second

// Patience is the parameter of a write, to be continued, that has Elasticsearch answer while
// there still is somebody to hear why it cannot write: its primary shard is on no node, or
// index.write.wait_for_active_shards asks for more copies than there are.
func Patience(ctx context.Context) string {
	wait := longestWait
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, max(0, time.Until(end)/2))
	}
	return fmt.Sprintf("timeout=%dms&", wait.Milliseconds())
}

// target finds the target once. Without an alias it is looked for before each write,
// which is how it is known that the index exists.
func (w *Writer) target(ctx context.Context) (Target, error) {
	if t := w.alias.Load(); t != nil {
		return *t, nil
	}
	t, err := FindTarget(ctx, w.client, w.index)
	if err == nil && !t.Alias && w.make != nil {
		if err = w.make(ctx); err == nil {
			t, err = FindTarget(ctx, w.client, w.index)
		}
	}
	if err == nil && t.Alias {
		w.alias.Store(&t)
	}
	return t, err
}
