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

// WriteAlias returns the alias that our own index is written through. Elasticsearch creates a
// missing index on a write, and guesses the types of its fields. A write that requires an alias
// creates none: the alias of a deleted index is deleted with it.
func WriteAlias(index string) string { return index + "-write" }

// Target is the alias or the index that documents are written to.
type Target struct {
	Name  string
	Alias bool // Name is an alias, so a write can require one
}

// FindTarget is [CheckTarget] for a user who may be refused the aliases: the target is then the
// index.
func FindTarget(ctx context.Context, client Client, index string) (Target, error) {
	target, err := CheckTarget(ctx, client, index)
	if Forbidden(err) {
		return Target{Name: index}, nil
	}
	return target, err
}

// CheckTarget returns the target for writes to an index: its write alias, or the name itself if that
// is an alias. If there is no alias, it is the existing index. If the index does not exist, the error
// satisfies [Missing].
func CheckTarget(ctx context.Context, client Client, index string) (Target, error) {
	plain := Target{Name: index}
	if strings.ContainsAny(index, "*,") {
		return plain, nil // no write can create it
	}
	var found map[string]struct {
		Aliases map[string]json.RawMessage `json:"aliases"`
	}
	// One request for both names: between two requests the index might be deleted.
	err := Ask(ctx, client, http.MethodGet, "/"+index+","+WriteAlias(index)+"/_alias", "ignore_unavailable=true", nil, &found)
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
	// Others may have defined an alias of that name that also covers other indices.
	if _, ok := own.Aliases[WriteAlias(index)]; !ok || written > 1 {
		return plain, nil
	}
	return Target{Name: WriteAlias(index), Alias: true}, nil
}

// Forbidden reports whether Elasticsearch refused a call because the user lacks a privilege.
func Forbidden(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusForbidden
}

// addWriteAlias adds the write alias to an existing index. It does nothing if the user lacks the
// right.
func addWriteAlias(ctx context.Context, client Client, index string) error {
	target, err := FindTarget(ctx, client, index)
	if err != nil || target.Alias {
		return err
	}
	add := object{"actions": []object{{"add": object{"index": index, "alias": WriteAlias(index)}}}}
	if err := Ask(ctx, client, http.MethodPost, "/_aliases", "", add, nil); err != nil && !Forbidden(err) {
		return err
	}
	return nil
}

// Writer writes to one index without letting a write create it.
type Writer struct {
	client Client
	index  string
	make   func(ctx context.Context) error
	alias  atomic.Pointer[Target] // nil means not found yet, or not an alias
}

// NewWriter returns a writer to an index. ensure creates a missing index with its mapping and its
// write alias. If it is nil, writing to a missing index is an error.
func NewWriter(client Client, index string, ensure func(ctx context.Context) error) *Writer {
	return &Writer{client: client, index: index, make: ensure}
}

// Write calls send with the target's name for the path and the leading parameters of the query. If
// the index is missing or has no write alias, it is created first. If Elasticsearch answers that
// the index is missing, send must return an error that satisfies [Missing], having written nothing;
// it is then called once more.
func (w *Writer) Write(ctx context.Context, send func(name, params string) error) error {
	for created := false; ; created = true {
		target, err := w.target(ctx)
		if err == nil {
			params := Patience(ctx)
			if target.Alias {
				params += "require_alias=true&"
			}
			err = send(target.Name, params)
		}
		if created || !Missing(err) {
			return err
		}
		w.alias.Store(nil)
		if w.make != nil {
			if err := w.make(ctx); err != nil {
				return err
			}
		}
	}
}

// longestWait is the longest time that a write waits in Elasticsearch, which by default is a
// minute.
const longestWait = 5 * time.Second

// Patience returns the leading parameter of a write that makes Elasticsearch answer before the
// caller's deadline why it cannot write: its primary shard is on no node, or
// index.write.wait_for_active_shards requires more copies than exist.
func Patience(ctx context.Context) string {
	wait := longestWait
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, max(0, time.Until(end)/2))
	}
	return fmt.Sprintf("timeout=%dms&", wait.Milliseconds())
}

// target finds the target once. Without an alias it is looked up before each write, which also
// verifies that the index exists.
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
