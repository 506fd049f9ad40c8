package server

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/server/breaker"
)

// TestSystemAndDoctor reads what the console shows about a server, which must contain no secret.
func TestSystemAndDoctor(t *testing.T) {
	t.Parallel()
	for mode, config := range map[string]func(testing.TB) configs.Config{"embedded": embedded, "services": withPostgres} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			cfg := config(t)
			cfg.Auth.AdminToken = testAdmin
			a := open(t, cfg)
			s := askAdmin[api.System](t, a, "GET", "/v1/system", "")
			assert.Len(t, s.Settings, len(configs.Keys()))
			items, impressions, posts := cfg.Stores()
			assert.Equal(t, []string{items, impressions, posts}, []string{s.Items, s.Impressions, s.Posts})
			assert.NotEmpty(t, s.Files)
			for _, d := range s.Dependencies { // breakers are those of the process, in which other tests open some
				assert.Contains(t, []string{breaker.Closed, breaker.HalfOpen, breaker.Open}, d.Breaker, d.Name)
			}
			if mode == "services" {
				assert.NotEmpty(t, s.Dependencies)
			}
			found := askAdmin[api.Diagnosis](t, a, "POST", "/v1/doctor", "")
			require.NotEmpty(t, found.Findings)
			assert.NotContains(t, asJSON(t, s)+asJSON(t, found), testAdmin)
			for _, f := range found.Findings {
				assert.NotEqual(t, "broken", f.Level, "%+v", f)
			}
			askAdmin[api.Overview](t, a, "GET", "/v1/overview", "") // it serves on
		})
	}
}
