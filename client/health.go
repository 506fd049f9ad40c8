package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/freshet/freshet/feed/api"
)

// Ready calls GET /readyz and returns the dependencies by name, also beside
// the error of a server that is not ready ([ErrUnavailable]). It asks once:
// who wants to wait calls again.
func (c *Client) Ready(ctx context.Context) (map[string]Dependency, error) {
	var data api.Readiness
	once := *c
	once.tries = 1
	res, err := once.Do(ctx, Request{Method: http.MethodGet, Path: "/readyz"})
	raw := res.Data
	var refused *Error
	if errors.As(err, &refused) {
		raw = refused.Data
	}
	if len(raw) > 0 {
		if uerr := json.Unmarshal(raw, &data); uerr != nil && err == nil {
			err = fmt.Errorf("the server's answer to GET /readyz cannot be read: %w", uerr)
		}
	}
	return data.Dependencies, err
}
