package handler

import (
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/rs/cors"
)

// Adjustable are the settings that may change while the routes are served.
type Adjustable struct {
	// MaxInFlight limits the agents' calls processed concurrently, over all agents; excess calls
	// are answered 50301 at once. 0 means no limit.
	MaxInFlight int
	// RateLimit is the number of calls per second allowed per agent, and also the burst; excess
	// calls are answered 42901. 0 means no limit.
	RateLimit float64
	CORS      CORS
}

// origins decides which pages of other origins may call.
type origins struct {
	cors  *cors.Cors                  // nil allows only our own pages
	pages *http.CrossOriginProtection // trusts our own pages and those of server.cors.origins
}

func newOrigins(cfg CORS) (*origins, error) {
	o := &origins{cors: newCORS(cfg), pages: http.NewCrossOriginProtection()}
	for _, origin := range cfg.Origins {
		if origin == "*" { // "*" lets pages read without credentials only
			continue
		}
		if err := o.pages.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("server.cors.origins: %w", err)
		}
	}
	return o, nil
}

// adjuster applies [Adjustable] to the parts that use it.
type adjuster struct {
	feeds, shown gate
	rates        *limiter
	origins      atomic.Pointer[origins]
}

func newAdjuster(cfg Config) (*adjuster, error) {
	rates, err := newLimiter(cfg.RateLimit, limitedAgents, cfg.Clock)
	if err != nil {
		return nil, err
	}
	a := &adjuster{feeds: newGate("agents", cfg.MaxInFlight), shown: newGate("media", cfg.MaxInFlight), rates: rates}
	return a, a.adjust(cfg.Adjustable)
}

// trusted returns the check of calls by pages of other origins.
func (a *adjuster) trusted() *http.CrossOriginProtection { return a.origins.Load().pages }

// adjust applies all settings, or none if there is an error. Calls in progress continue; while there are
// more of them than a new limit allows, others are refused.
func (a *adjuster) adjust(to Adjustable) error {
	o, err := newOrigins(to.CORS)
	if err != nil {
		return err
	}
	a.origins.Store(o)
	a.feeds.resize(to.MaxInFlight)
	a.shown.resize(to.MaxInFlight)
	a.rates.resize(to.RateLimit)
	return nil
}
