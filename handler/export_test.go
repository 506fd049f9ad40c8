package handler

import (
	"context"
	"errors"
	"net/http"
	"testing"
)

// NewUnready is a server that cannot do without what is down.
func NewUnready(t testing.TB) http.Handler {
	return newFixture(t, func(_ *Config, d *Deps) {
		d.Health = healthFunc(func(context.Context) map[string]Dependency {
			return map[string]Dependency{
				"elasticsearch": {Err: errors.New("connection refused")},
				"redis":         {Optional: true},
			}
		})
	}).handler
}
