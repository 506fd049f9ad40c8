package configs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

// TestKubernetesServiceVariables loads a configuration in a pod next to services of many names:
// none of the variables that Kubernetes sets for them may be taken for a setting.
func TestKubernetesServiceVariables(t *testing.T) {
	for _, service := range []string{
		"freshet", "freshet-api", "freshet-server", "freshet-worker", "freshet-headless", "freshet-2", "freshet-v2-canary",
		"freshet-redis", "freshet-redis-master", "freshet-redis-replicas", "freshet-redis-headless", "freshet-redis-url", "freshet-timeline-redis",
		"freshet-elasticsearch", "freshet-elasticsearch-es-http", "freshet-elasticsearch-addresses", "freshet-es-transport",
		"freshet-postgres", "freshet-postgresql-hl", "freshet-postgres-rw", "freshet-media", "freshet-minio", "freshet-jobs", "freshet-log",
		"freshet-auth", "freshet-catalog", "freshet-data-dir", "freshet-dedup-shards", "freshet-port", "freshet-service", "freshet-service-port",
	} {
		for _, proto := range []string{"tcp", "udp", "sctp"} {
			for _, address := range []string{"10.0.0.1", "fd00::1"} {
				_, err := configs.Load(configs.Options{Environ: kubernetesVariables(service, proto, address)})
				require.NoError(t, err, "%s %s %s", service, proto, address)
			}
		}
	}
}

// kubernetesVariables returns the variables that Kubernetes sets for a service with two named
// ports.
func kubernetesVariables(service, proto, address string) []string {
	name, upper, host := strings.ToUpper(strings.ReplaceAll(service, "-", "_")), strings.ToUpper(proto), address
	if strings.Contains(address, ":") {
		host = "[" + address + "]"
	}
	vars := []string{
		name + "_SERVICE_HOST=" + address, name + "_SERVICE_PORT=6379",
		name + "_SERVICE_PORT_HTTP=6379", name + "_SERVICE_PORT_TCP_METRICS=9121",
		fmt.Sprintf("%s_PORT=%s://%s:6379", name, proto, host),
	}
	for _, port := range []string{"6379", "9121"} {
		at := name + "_PORT_" + port + "_" + upper
		vars = append(vars, fmt.Sprintf("%s=%s://%s:%s", at, proto, host, port), at+"_PROTO="+proto, at+"_PORT="+port, at+"_ADDR="+address)
	}
	return vars
}

// TestMistypedVariablesReported checks that mistyped settings are reported although they look
// like Kubernetes variables.
func TestMistypedVariablesReported(t *testing.T) {
	for variable, nearest := range map[string]string{
		"FRESHET_SERVER_PORT=8080":                "FRESHET_SERVER_",
		"FRESHET_PORT=8080":                       "FRESHET_",
		"FRESHET_REDIS_PORT=6379":                 "FRESHET_REDIS_URL",
		"FRESHET_REDIS_HOST=redis":                "FRESHET_REDIS_URL",
		"FRESHET_REDIS_SERVICE_PORT=http":         "FRESHET_REDIS_",
		"FRESHET_POSTGRES_PORT=http://10.0.0.1:1": "FRESHET_POSTGRES_URL",
		"FRESHET_REDIS_URLS=redis://10.0.0.1":     "FRESHET_REDIS_URL",
		"FRESHET_REDIS_PORT_6379=tcp://a:1":       "FRESHET_REDIS_",
		"FRESHET_DEDUP_DAILY_CAPCITY=5":           "FRESHET_DEDUP_DAILY_CAPACITY",
	} {
		_, err := configs.Load(configs.Options{Environ: []string{variable}})
		name, _, _ := strings.Cut(variable, "=")
		if assert.ErrorContains(t, err, name+" is not a setting", variable) {
			assert.ErrorContains(t, err, "the nearest is "+nearest, variable)
		}
	}
}

// TestKeysWrittenAsBooleans loads keys as Helm and other writers of YAML 1.1 pass them on: there y, n,
// on and off are booleans, also as names.
func TestKeysWrittenAsBooleans(t *testing.T) {
	words := map[string]string{"y": "true", "yes": "true", "on": "true", "n": "false", "no": "false", "off": "false"}
	found := 0
	for _, key := range configs.Keys() {
		section, name, _ := strings.Cut(key, ".")
		written := words[name]
		if written == "" {
			continue
		}
		found++
		_, err := configs.Load(configs.Options{Path: file(t, fmt.Sprintf("%s: {%q: [x]}", section, written))})
		require.ErrorContains(t, err, key+" must be ", "the value of %s.%s", section, written)
	}
	assert.NotZero(t, found)

	c, err := configs.Load(configs.Options{Path: file(t, `{impressions: {"true": seen}, social: {"false": true}, recall: {false: 300}}`)})
	require.NoError(t, err)
	assert.Equal(t, "seen", c.Impressions.On)
	assert.True(t, c.Social.Off)
	assert.Equal(t, 300, c.Recall.N)

	_, err = configs.Load(configs.Options{Path: file(t, `impressions: {on: seen, "true": served}`)})
	require.ErrorContains(t, err, "impressions.true is impressions.on, as a writer of YAML 1.1 such as Helm passes it on; keep one of the two")
	_, err = configs.Load(configs.Options{Path: file(t, `redis: {"true": x}`)})
	require.ErrorContains(t, err, "redis.true is not a key")
}
