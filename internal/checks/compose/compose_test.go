// Package compose checks the compose file against the configuration with which it starts servers.
package compose

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

// project loads the compose file like docker compose.
func project(t *testing.T) *types.Project {
	t.Helper()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	p, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir:  root,
		ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(root, "docker-compose.yml")}},
		Environment: types.Mapping{"FRESHET_AUTH_ADMIN_TOKEN": "from-the-shell"},
	})
	require.NoError(t, err)
	return p
}

func service(t *testing.T, name string) types.ServiceConfig {
	t.Helper()
	s, err := project(t).GetService(name)
	require.NoError(t, err)
	return s
}

// TestComposeValues checks what docs/production.md says of values in a compose file and in the files of variables
// that it names: they arrive as they are.
func TestComposeValues(t *testing.T) {
	t.Parallel()
	const value = `pa$w#'1 %&\^@`
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "freshet.env"), []byte(`OF_FILE='`+strings.ReplaceAll(value, "'", `\'`)+"'\n"), 0o600))
	file := "services:\n  freshet:\n    image: freshet\n    env_file: freshet.env\n    environment:\n      WRITTEN: '" +
		strings.NewReplacer("$", "$$", "'", "''").Replace(value) + "'\n"
	p, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: dir, ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(dir, "compose.yml"), Content: []byte(file)}},
	}, func(o *loader.Options) { o.SetProjectName("values", true) })
	require.NoError(t, err)
	s, err := p.GetService("freshet")
	require.NoError(t, err)
	for _, name := range []string{"OF_FILE", "WRITTEN"} {
		require.NotNil(t, s.Environment[name], name)
		assert.Equal(t, value, *s.Environment[name], name)
	}
}

func TestComposeServices(t *testing.T) {
	p := project(t)
	assert.ElementsMatch(t, []string{"freshet", "redis", "elasticsearch", "postgres"}, p.ServiceNames())
	for name, s := range p.Services {
		require.NotNil(t, s.HealthCheck, "%s has no health check", name)
		assert.NotEmpty(t, s.HealthCheck.Test, name)
		assert.NotEmpty(t, s.Ports, name)
		for _, port := range s.Ports {
			assert.Equal(t, "127.0.0.1", port.HostIP, "%s publishes port %s to other machines", name, port.Published)
		}
		named := slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool { return v.Type == types.VolumeTypeVolume && v.Source != "" })
		assert.True(t, named, "%s loses its data with its container", name)
		if assert.NotNil(t, s.Logging, "the log of %s grows for ever", name) {
			assert.NotEmpty(t, s.Logging.Options["max-size"], name)
			assert.NotEmpty(t, s.Logging.Options["max-file"], name)
		}
	}
	for name, dependency := range p.Services["freshet"].DependsOn {
		assert.Equal(t, types.ServiceConditionHealthy, dependency.Condition, name)
	}
	assert.Len(t, p.Services["freshet"].DependsOn, 3)
}

func TestComposeServicesFitFreshet(t *testing.T) {
	redis := strings.Join(service(t, "redis").Command, " ")
	assert.Contains(t, redis, "--maxmemory-policy noeviction", "an evicted filter forgets what was shown")
	assert.Contains(t, redis, "--appendonly yes", "a restart must not lose impressions")

	elastic := service(t, "elasticsearch")
	assert.Equal(t, "single-node", *elastic.Environment["discovery.type"])
	assert.Equal(t, "false", *elastic.Environment["xpack.security.enabled"])
	assert.Contains(t, *elastic.Environment["ES_JAVA_OPTS"], "-Xmx")
}

// A server must start with the container's configuration, which must name the services as they are
// called in the compose file.
func TestComposeConfiguration(t *testing.T) {
	s := service(t, "freshet")
	var path string
	for _, v := range s.Volumes {
		if i := slices.Index(s.Command, "--config"); i >= 0 && s.Command[i+1] == v.Target {
			path = v.Source
			assert.True(t, v.ReadOnly)
		}
	}
	require.NotEmpty(t, path, "the file named by --config is not mounted")
	mounted, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(configs.Services, mounted), "the mounted file is not the shipped services.yaml")

	var environ []string
	for name, value := range s.Environment {
		environ = append(environ, name+"="+*value)
	}
	c, err := configs.Load(configs.Options{Path: path, Environ: environ})
	require.NoError(t, err)
	assert.Equal(t, "from-the-shell", c.Auth.AdminToken)
	assert.False(t, configs.Loopback(c.Server.Addr), "a loopback address cannot be published from a container")
	assert.Equal(t, []string{"redis:6379"}, c.Redis.Server().Addrs)
	assert.Equal(t, []string{"http://elasticsearch:9200"}, c.Elasticsearch.Addresses)
	assert.Contains(t, c.Postgres.URL, "@postgres:5432/")
	assert.Greater(t, int64(*s.StopGracePeriod), int64(c.Server.ShutdownTimeout), "a stop must leave time to record")
	assert.True(t, slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool { return v.Target == c.DataDir }),
		"data_dir is not on a volume")

	// On this machine the same services have the addresses of services.yaml.
	outside, err := configs.Load(configs.Options{Path: "../../../configs/services.yaml"})
	require.NoError(t, err)
	database, err := url.Parse(outside.Postgres.URL)
	require.NoError(t, err)
	for _, pair := range [][2]string{
		{"redis", outside.Redis.Server().Addrs[0]}, {"elasticsearch", strings.TrimPrefix(outside.Elasticsearch.Addresses[0], "http://")}, {"postgres", database.Host},
	} {
		port := service(t, pair[0]).Ports[0]
		assert.Equal(t, pair[1], port.HostIP+":"+port.Published, pair[0])
	}
}
