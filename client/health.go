package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Dependency is the state of one thing a server stands on.
type Dependency struct {
	State       string `json:"state"`                  // up, degraded or down
	Optional    bool   `json:"optional,omitempty"`     // down, it degrades answers only
	Error       string `json:"error,omitempty"`        // why it is down
	Warning     string `json:"warning,omitempty"`      // what is wrong with it though it is up
	SecondsLeft int64  `json:"seconds_left,omitempty"` // of degraded: how long what the server has kept stands in for it
}

// Ready calls GET /readyz and returns the dependencies by name, also beside
// the error of a server that is not ready ([ErrUnavailable]). It asks once:
// who wants to wait calls again.
func (c *Client) Ready(ctx context.Context) (map[string]Dependency, error) {
	var data struct {
		Dependencies map[string]Dependency `json:"dependencies"`
	}
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
