package agreement

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/freshet/freshet/internal/esindex"
)

// docID is the document beside the versions of the ranking, whose ids are others.
const docID = "settings"

// elastic keeps the text beside the index of items.
type elastic struct {
	client esindex.Client
	items  string
}

// InElastic keeps settings beside the index of items.
func InElastic(client esindex.Client, items string) Store { return elastic{client, items} }

type document struct {
	Settings string `json:"settings"`
}

// Kept implements [Store].
func (e elastic) Kept(ctx context.Context) (string, error) {
	docs, err := esindex.Get(ctx, e.client, []esindex.DocID{{Index: esindex.Rankings(e.items), ID: docID}})
	if err == nil {
		err = docs[0].Err()
	}
	if err != nil || len(docs[0].Source) == 0 {
		if esindex.Missing(err) {
			err = nil
		}
		return "", err
	}
	var d document
	err = json.Unmarshal(docs[0].Source, &d)
	return d.Settings, err
}

// Keep implements [Store].
func (e elastic) Keep(ctx context.Context, text string) (string, error) {
	if kept, err := e.Kept(ctx); err != nil || kept != "" {
		return kept, err
	}
	err := e.put(ctx, "/_create/", text)
	var refused *esindex.Error
	if errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return e.Kept(ctx)
	}
	return text, err
}

// Replace implements [Store].
func (e elastic) Replace(ctx context.Context, text string) error { return e.put(ctx, "/_doc/", text) }

func (e elastic) put(ctx context.Context, how, text string) error {
	if _, err := esindex.EnsureBeside(ctx, e.client, e.items); err != nil {
		return err
	}
	body, err := json.Marshal(document{text})
	if err != nil {
		return err
	}
	return esindex.Do(ctx, e.client, http.MethodPut, "/"+esindex.Rankings(e.items)+how+docID, esindex.Patience(ctx), body, nil)
}
