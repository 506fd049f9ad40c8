package configs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	cfg := Default()
	cfg.Auth.AdminToken = "hidden-token"
	cfg.Redis.URL = "redis://freshet:hidden-word@127.0.0.1:6379/0"
	cfg.Elasticsearch.Addresses = []string{"http://a:hidden-one@es1:9200", "http://es2:9200"}
	cfg.Elasticsearch.APIKey = "hidden-key"
	cfg.Files = map[string]string{"elasticsearch.api_key": "/run/secrets/key"}
	of := map[string]Setting{}
	for _, s := range Settings(cfg) {
		of[s.Key] = s
	}
	require.Len(t, of, len(Keys()))
	assert.NotContains(t, fmt.Sprint(of), "hidden")
	assert.Equal(t, "redis://******@127.0.0.1:6379/0", of["redis.url"].Value)
	assert.Equal(t, OriginSet, of["redis.url"].Origin)
	assert.Equal(t, "http://******@es1:9200, http://es2:9200", of["elasticsearch.addresses"].Value)
	assert.Equal(t, OriginFile, of["elasticsearch.api_key"].Origin)
	assert.Equal(t, OriginDefault, of["server.request_timeout"].Origin)
	assert.Equal(t, Default().Server.RequestTimeout.String(), of["server.request_timeout"].Value)
	assert.True(t, strings.HasPrefix(of["ranking"].Value, "{") || of["ranking"].Value == "", "%s", of["ranking"].Value)
}
