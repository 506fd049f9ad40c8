package esindex

import (
	"context"
	"fmt"

	"github.com/elastic/go-elasticsearch/v8/typedapi/core/ping"
)

// Ping returns an error where Elasticsearch does not answer.
func Ping(ctx context.Context, client Client) error {
	// The type that every other request takes; by default it is one of version 8 alone.
	res, err := ping.New(client).Header("Accept", "application/json").Perform(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode > 299 {
		return fmt.Errorf("elasticsearch answers %s", res.Status)
	}
	return nil
}
