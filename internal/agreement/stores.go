package agreement

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/rediskeys"
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
func (e elastic) Keep(ctx context.Context, text string, once bool) error {
	if _, err := esindex.EnsureBeside(ctx, e.client, e.items); err != nil {
		return err
	}
	body, err := json.Marshal(document{text})
	if err != nil {
		return err
	}
	how := "/_doc/"
	if once {
		how = "/_create/"
	}
	err = esindex.Do(ctx, e.client, http.MethodPut, "/"+esindex.Rankings(e.items)+how+docID, esindex.Patience(ctx), body, nil)
	var refused *esindex.Error
	if once && errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return nil // there is one
	}
	return err
}

// inRedis keeps the text under the key prefix: servers with other prefixes share nothing.
type inRedis struct {
	client redis.Cmdable
	key    string
}

// InRedis keeps settings with what lies in Redis under the prefix.
func InRedis(client redis.Cmdable, prefix string) Store {
	return inRedis{client, rediskeys.For(client, prefix).Settings()}
}

// Kept implements [Store].
func (r inRedis) Kept(ctx context.Context) (string, error) {
	text, err := r.client.Get(ctx, r.key).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return text, err
}

// Keep implements [Store].
func (r inRedis) Keep(ctx context.Context, text string, once bool) error {
	if once {
		return r.client.SetNX(ctx, r.key, text, 0).Err()
	}
	return r.client.Set(ctx, r.key, text, 0).Err()
}
