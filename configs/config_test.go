package configs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
)

func TestDefaultIsValid(t *testing.T) {
	c := configs.Default()
	require.NoError(t, c.Validate())
	require.NoError(t, c.Ranking.Validate())
}

func TestShippedFileEqualsDefaults(t *testing.T) {
	c, err := configs.Parse("freshet.yaml", configs.Embedded)
	require.NoError(t, err)
	want := configs.Default()
	// An empty list in YAML and a nil list in Go mean the same.
	want.Elasticsearch.Addresses = c.Elasticsearch.Addresses
	assert.Empty(t, c.Elasticsearch.Addresses)
	assert.NotEmpty(t, c.Origins)
	c.Origins = nil
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("freshet.yaml differs from Default() (-Go +YAML):\n%s", diff)
	}
}

// Every key must be in the shipped file, in the order of the struct, and have its own comment or
// share that of the keys above it.
func TestShippedFileHasEveryKey(t *testing.T) {
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal(configs.Embedded, &doc))
	var keys, ranking []string
	var walk func(n *yaml.Node, prefix string)
	walk = func(n *yaml.Node, prefix string) {
		for i := 0; i < len(n.Content); i += 2 {
			key := prefix + n.Content[i].Value
			if n.Content[i+1].Kind == yaml.MappingNode {
				walk(n.Content[i+1], key+".")
				continue
			}
			if name, ok := strings.CutPrefix(key, "ranking."); ok {
				if ranking = append(ranking, name); len(ranking) > 1 {
					continue
				}
				key = "ranking"
			}
			keys = append(keys, key)
		}
	}
	walk(doc.Content[0], "")
	assert.Equal(t, configs.Keys(), keys)
	var names []string
	for _, one := range feed.DefaultRanking().All() {
		name, _, _ := strings.Cut(one, "=")
		names = append(names, name)
	}
	assert.Equal(t, names, ranking)
}

func TestServicesFile(t *testing.T) {
	c, err := configs.Parse("services.yaml", configs.Services)
	require.NoError(t, err)
	assert.True(t, c.UsesElasticsearch() && c.UsesRedis() && c.UsesPostgres() && c.SocialOn())
	assert.Equal(t, configs.RedisServer{Addrs: []string{"127.0.0.1:6379"}}, c.Redis.Server())
	assert.Equal(t, []string{"http://127.0.0.1:9200"}, c.Elasticsearch.Addresses)
}

func TestEnvironmentNamesAreDistinct(t *testing.T) {
	seen := map[string]string{}
	for _, key := range configs.Keys() {
		name := configs.EnvName(key)
		assert.Empty(t, seen[name], "%s and %s share %s", key, seen[name], name)
		seen[name] = key
	}
}

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "freshet.yaml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func flags(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	fs.String("unrelated", "x", "a flag that is no key")
	configs.AddFlags(fs)
	require.NoError(t, fs.Parse(args))
	return fs
}

func TestPrecedence(t *testing.T) {
	path := write(t, "server: {addr: 127.0.0.1:1}\ndedup:\n  daily_capacity: 11\n  shards: 3\n")
	environ := []string{"FRESHET_DEDUP_DAILY_CAPACITY=22", "FRESHET_SERVER_ADDR=127.0.0.1:2", "HOME=/root"}

	c, err := configs.Load(configs.Options{Path: path, Environ: environ, Flags: flags(t, "--server.addr", "127.0.0.1:3", "--unrelated", "y")})
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:3", c.Server.Addr, "the flag wins over environment and file")
	assert.Equal(t, 22, c.Dedup.DailyCapacity, "the environment wins over the file")
	assert.Equal(t, 3, c.Dedup.Shards, "the file wins over the default")
	assert.Equal(t, 7, c.Dedup.WindowDays, "a flag that was not given does not override with its default")
}

func TestValueKindsFromEveryLayer(t *testing.T) {
	want := configs.Default()
	want.Server.RequestTimeout = 2500 * time.Millisecond
	want.Auth.TrustedGateway = true
	want.Dedup.FalsePositiveRate = 0.001
	want.Dedup.DailyCapacity = 5_000_000
	want.Elasticsearch.Addresses = []string{"http://a:1", "http://b:2"}
	want.Elasticsearch.Fields.Title = "headline"

	layers := map[string]configs.Options{
		"file": {Path: write(t, `
server: {request_timeout: 2.5s}
auth: {trusted_gateway: true}
dedup: {false_positive_rate: 1e-3, daily_capacity: 5e6}
elasticsearch: {addresses: ["http://a:1", "http://b:2"], fields: {title: headline}}
`)},
		"environment": {Environ: []string{
			"FRESHET_SERVER_REQUEST_TIMEOUT=2.5s", "FRESHET_AUTH_TRUSTED_GATEWAY=true", "FRESHET_DEDUP_FALSE_POSITIVE_RATE=0.001",
			"FRESHET_DEDUP_DAILY_CAPACITY=5_000_000", "FRESHET_ELASTICSEARCH_ADDRESSES=http://a:1, http://b:2", "FRESHET_ELASTICSEARCH_FIELDS_TITLE=headline",
		}},
		"flags": {Flags: flags(t, "--server.request_timeout=2.5s", "--auth.trusted_gateway", "--dedup.false_positive_rate=.001",
			"--dedup.daily_capacity=5000000", "--elasticsearch.addresses=http://a:1,http://b:2", "--elasticsearch.fields.title=headline")},
	}
	for name, o := range layers {
		t.Run(name, func(t *testing.T) {
			got, err := configs.Load(o)
			require.NoError(t, err)
			assert.NotEmpty(t, got.Origins)
			got.Origins = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestServicesUsedByURL: posts are stored in SQLite only if everything else is
// embedded.
func TestServicesUsedByURL(t *testing.T) {
	redis, elastic, postgres := "--redis.url=redis://h", "--elasticsearch.addresses=http://h:9200", "--postgres.url=postgres://h/db"
	for _, test := range []struct {
		flags []string
		want  string
	}{
		{nil, "social"},
		{[]string{"--social.off"}, ""},
		{[]string{redis}, "redis"},
		{[]string{elastic}, "elasticsearch"},
		{[]string{redis, postgres}, "redis postgres social"},
		{[]string{redis, elastic, postgres}, "redis elasticsearch postgres social"},
		{[]string{redis, postgres, "--social.off"}, "redis"},
	} {
		c, err := configs.Load(configs.Options{Flags: flags(t, test.flags...)})
		require.NoError(t, err, test.flags)
		var uses []string
		for _, one := range []struct {
			name string
			used bool
		}{{"redis", c.UsesRedis()}, {"elasticsearch", c.UsesElasticsearch()}, {"postgres", c.UsesPostgres()}, {"social", c.SocialOn()}} {
			if one.used {
				uses = append(uses, one.name)
			}
		}
		assert.Equal(t, test.want, strings.Join(uses, " "), test.flags)
	}
}

func TestRedisURL(t *testing.T) {
	for url, want := range map[string]configs.RedisServer{
		"redis://h":         {Addrs: []string{"h:6379"}, Password: "kept"},
		"redis://h:1/2":     {Addrs: []string{"h:1"}, DB: 2, Password: "kept"},
		"redis://[::1]:1/":  {Addrs: []string{"[::1]:1"}, Password: "kept"},
		"rediss://u@h":      {Addrs: []string{"h:6379"}, TLS: true, Username: "u", Password: "kept"},
		"redis://:p%40@h":   {Addrs: []string{"h:6379"}, Password: "p@"},
		"redis://u:p@h:1/0": {Addrs: []string{"h:1"}, Username: "u", Password: "p"},
		"redis://u:p@a:1?addr=b:2&addr=c:3": {
			Addrs: []string{"a:1", "b:2", "c:3"}, Username: "u", Password: "p",
		},
		"rediss://s:q@a/3?addr=b:2&master_name=m&username=u&password=p%26": {
			Addrs: []string{"a:26379", "b:2"}, TLS: true, DB: 3, MasterName: "m",
			Username: "u", Password: "p&", SentinelUsername: "s", SentinelPassword: "q",
		},
		"redis://a:1?master_name=m": {Addrs: []string{"a:1"}, MasterName: "m", Password: "kept"},
	} {
		c := configs.Default()
		c.Redis.URL, c.Redis.Password = url, "kept"
		require.NoError(t, c.Validate(), url)
		assert.Equal(t, want, c.Redis.Server(), url)
	}
}

func TestElasticsearchURLs(t *testing.T) {
	e := configs.Elasticsearch{Addresses: []string{"https://elastic@a:9200", "https://u:own@b:9200", "http://c:9200"}, Password: "p/w"}
	assert.Equal(t, []string{"https://elastic:p%2Fw@a:9200", "https://u:own@b:9200", "http://c:9200"}, e.URLs())
}

// TestPopularityNeedsRedis: if recall is in Elasticsearch, counting requires Redis.
func TestPopularityNeedsRedis(t *testing.T) {
	cfg := configs.Default()
	assert.Empty(t, cfg.PopularityOff())
	cfg.Elasticsearch.Addresses = []string{"http://h:9200"}
	assert.Contains(t, cfg.PopularityOff(), "needs Redis")
	cfg.Redis.URL = "redis://h"
	assert.Empty(t, cfg.PopularityOff())
}

// TestListsRedisSharedSettings checks that only the settings common to all clients are taken
// from the other Redis.
func TestListsRedisSharedSettings(t *testing.T) {
	cfg := configs.Default()
	cfg.Redis.URL, cfg.Redis.Password, cfg.Redis.KeyPrefix, cfg.Redis.WaitReplicas = "redis://a:1", "word", "p:", 1
	cfg.Timeline.RedisURL = "redis://b:1"
	of := cfg.WithListsRedis().Redis
	assert.Equal(t, configs.RedisServer{Addrs: []string{"b:1"}}, of.Server())
	assert.Equal(t, "p:", of.KeyPrefix)
	assert.Zero(t, of.WaitReplicas)
	assert.Equal(t, []string{"a:1"}, cfg.Redis.Server().Addrs)
}

func TestEmptySectionsAndValuesKeepDefaults(t *testing.T) {
	for _, content := range []string{"", "# nothing\n", "server:\n", "server: {}\n", "server:\n  addr:\n", "elasticsearch: {fields: }\n"} {
		c, err := configs.Parse("test", []byte(content))
		require.NoError(t, err, "%q", content)
		assert.Equal(t, configs.Default(), c, "%q", content)
	}
}

func TestUnknownVariables(t *testing.T) {
	c, err := configs.Load(configs.Options{Environ: []string{
		"FRESHET_TEST_REDIS=redis://x", "FRESHET_ADMIN_TOKEN=t", "FRESHET_SERVER=http://server",
		// An empty variable counts as unset.
		"FRESHET_DEDUP_SHARDS=",
	}})
	require.NoError(t, err)
	assert.Equal(t, configs.Default(), c)
}

func TestInvalidLayers(t *testing.T) {
	tests := map[string]struct {
		file    string
		environ []string
		want    []string
	}{
		"unknown key":              {file: "dedup: {daily_capcity: 5}", want: []string{"dedup.daily_capcity is not a key; the nearest is dedup.daily_capacity"}},
		"a part left out":          {file: "dedup: {capacity: 5}", want: []string{"the nearest is dedup.daily_capacity"}},
		"unknown section":          {file: "sever: {addr: x}", want: []string{"sever.addr is not a key; the nearest is server.addr"}},
		"unknown with empty value": {file: "nonsense:", want: []string{"nonsense is not a key"}},
		"key without its section":  {file: "addr: 127.0.0.1:1", want: []string{"addr is not a key; the nearest is server.addr"}},
		"a section with a value":   {file: "server: 5", want: []string{"server is a section: it holds keys such as server.addr"}},
		"a value with a section":   {file: "data_dir: {x: 1}", want: []string{"data_dir.x is not a key; the nearest is data_dir"}},
		"dots in a name":           {file: "server.addr: 127.0.0.1:1", want: []string{"server.addr must be written as nested sections"}},
		"dots before a section":    {file: "server.cors: {origins: x}", want: []string{"server.cors.origins must be written as nested sections"}},
		"dots in a section":        {file: "server: {cors.origins: x}", want: []string{"server.cors.origins must be written as nested sections"}},
		"a ranking with dots":      {file: "ranking.scale: 48h\nranking: {scale: 72h}", want: []string{"ranking.scale must be written as nested sections"}},
		"not a map":                {file: "- a\n- b\n", want: []string{"it must be YAML, a map of sections"}},
		"broken YAML":              {file: "server: [", want: []string{"it must be YAML"}},
		"a list as a merged name":  {file: "server: {1: 2, <<: {[1]: 2}}", want: []string{"it must be YAML"}},
		"key twice":                {file: "data_dir: a\ndata_dir: b\n", want: []string{"already defined"}},
		"two documents":            {file: "data_dir: a\n---\ndata_dir: b\n", want: []string{"more than one document"}},
		"duration without a unit":  {file: "sessions: {ttl: 30}", want: []string{"sessions.ttl must be a duration such as 500ms, 30s or 24h, not 30"}},
		"fraction for a count":     {file: "recall: {n: 1.5}", want: []string{"recall.n must be a whole number, not 1.5"}},
		"text for a number":        {file: "dedup: {false_positive_rate: high}", want: []string{`dedup.false_positive_rate must be a number, not "high"`}},
		"text for a switch":        {file: "social: {off: maybe}", want: []string{`social.off must be true or false, not "maybe"`}},
		"number for a text":        {file: "elasticsearch: {index: 2024}", want: []string{"elasticsearch.index must be text (a number or a yes/no word needs quotes), not 2024"}},
		"number in a list":         {file: "elasticsearch: {addresses: [6379]}", want: []string{"elasticsearch.addresses must be a list of texts"}},
		"several at once":          {file: "sever: {a: 1}\nrecall: {n: x}", want: []string{"2 problems", "sever.a", "recall.n"}},
		"unknown variable": {
			environ: []string{"FRESHET_DEDUP_CAPACITY=5"},
			want:    []string{"environment: FRESHET_DEDUP_CAPACITY is not a setting; the nearest is FRESHET_DEDUP_DAILY_CAPACITY"},
		},
		"bad variable":   {environ: []string{"FRESHET_RECALL_N=many"}, want: []string{`FRESHET_RECALL_N: recall.n must be a whole number, not "many"`}},
		"both layers":    {file: "recall: {n: x}", environ: []string{"FRESHET_SESSIONS_TTL=1"}, want: []string{"recall.n must", "sessions.ttl must"}},
		"rules of a key": {environ: []string{"FRESHET_RECALL_N=0"}, want: []string{"recall.n must be 1 to 10000, not 0"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := configs.Options{Environ: tt.environ}
			if tt.file != "" {
				o.Path = write(t, tt.file)
			}
			_, err := configs.Load(o)
			var problems configs.Problems
			require.ErrorAs(t, err, &problems)
			for _, want := range tt.want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}

func TestLoadMissingFile(t *testing.T) {
	_, err := configs.Load(configs.Options{Path: filepath.Join(t.TempDir(), "absent.yaml")})
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "absent.yaml")
}

func TestFlagErrorsNameForm(t *testing.T) {
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	configs.AddFlags(fs)
	err := fs.Parse([]string{"--sessions.ttl", "30"})
	assert.ErrorContains(t, err, "--sessions.ttl")
	assert.ErrorContains(t, err, `must be a duration such as 500ms, 30s or 24h, not "30"`)
}

func TestEveryFlagHasHelp(t *testing.T) {
	fs := flags(t)
	for _, key := range configs.Keys() {
		f := fs.Lookup(key)
		require.NotNil(t, f, key)
		assert.NotEmpty(t, f.Usage, key)
	}
	assert.Equal(t, "30m", fs.Lookup("sessions.ttl").DefValue)
	assert.Equal(t, feed.DefaultRanking().String(), fs.Lookup("ranking").DefValue)
}

func TestPrintMasksSecretsAndReloads(t *testing.T) {
	c, err := configs.Parse("services.yaml", configs.Services)
	require.NoError(t, err)
	c.Auth.AdminToken, c.Auth.JWT.Secret, c.Redis.Password = "hidden-1", "hidden-2", "hidden-3"
	c.Elasticsearch.Password = "hidden-4"
	c.Elasticsearch.Addresses = []string{"https://admin:hidden@5/x@es:9200", "http://es2:9200"}
	c.Redis.URL = "redis://sentinel:hidden-7@redis:26379?master_name=m&username=app&password=hidden-8"
	c.Timeline.RedisURL = "rediss://:hidden-9@lists"
	c.Postgres.URL = "postgres://freshet:hidden-6@postgres:5432/freshet?sslmode=require&sslpassword=hidden-10"
	c.Impressions.On = configs.OnSeen

	var out bytes.Buffer
	require.NoError(t, configs.Print(&out, c))
	assert.NotContains(t, out.String(), "hidden")
	assert.Equal(t, 4, strings.Count(out.String(), ": '******'"), out.String())
	assert.Contains(t, out.String(), "https://******@es:9200")
	assert.Contains(t, out.String(), "api_key: \"\"", "an empty secret is shown as empty")

	again, err := configs.Parse("printed", out.Bytes())
	require.NoError(t, err)
	var secondTime bytes.Buffer
	require.NoError(t, configs.Print(&secondTime, again))
	assert.Equal(t, out.String(), secondTime.String())
}

func TestErrorsMaskSecrets(t *testing.T) {
	for _, file := range []string{
		"redis: {password: [hunter2]}",
		"auth: {jwt: {secret: [hunter2]}}",
		"redis: {url: \"http://u:hunter2@h:1\"}",
		"redis: {url: \"redis://u:hunter2%zz@h:1\"}",
		"redis: {url: \"redis://h:1/hunter2@x\"}",
		"redis: {url: \"redis://h:x?password=hunter2\"}",
		"redis: {url: \"redis://h?password=hunter2\"}",
		"redis: {url: 'redis://h:x?master_name=m&password=a\"hunter2'}",
		"redis: {url: \"redis://h?master_name=m&addr=u:hunter2@h\"}",
		"redis: {url: [\"redis://h?password=hunter2\"]}",
		"timeline: {redis_url: \"redis://u:hunter2@h:1/a\"}",
		"redis: {url: \"redis://default:4711?hunter2@h:1\"}",
		"elasticsearch: {addresses: [\"http://u:4711?hunter2@h:1\"]}",
		"elasticsearch: {addresses: [\"http://u:4711/hunter2@h:1\"]}",
		"{redis: {url: \"redis://h\"}, postgres: {url: \"postgres://u:4711?hunter2@h/d\"}}",
		"elasticsearch: {addresses: [\"ftp://u:hunter2@h:1\"]}",
		"elasticsearch: {addresses: [\"http://u:hunter2%zz@h:1\"]}",
		"elasticsearch: {addresses: [\"http://u:hunter2\", \"b@h:1\"]}", // what a variable with a comma in the password becomes
		"elasticsearch: {addresses: [\"http://u:a\", hunter2, \"b@h:1\"]}",
		"redis: {url: \"redis://u:a\",hunter2#@h:1\"}",
		"redis: {url: \"redis://u:a\",hunter2&=.b@h:1/0: 1}",
	} {
		_, err := configs.Parse("test", []byte(file))
		require.Error(t, err, file)
		assert.NotContains(t, err.Error(), "hunter2", file)
	}
}
