package configs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

func services(t *testing.T) configs.Config {
	t.Helper()
	c, err := configs.Parse("services.yaml", configs.Services)
	require.NoError(t, err)
	return c
}

func TestValidateRefuses(t *testing.T) {
	type C = configs.Config
	tests := map[string]struct {
		services bool // start from services.yaml instead of the defaults
		change   func(c *C)
		key      string
		says     string
	}{
		"addr without a port":         {change: func(c *C) { c.Server.Addr = "127.0.0.1" }, key: "server.addr", says: "host:port"},
		"addr of IPv6 alone":          {change: func(c *C) { c.Server.Addr = "::" }, key: "server.addr", says: "[::1]:8080"},
		"addr with a big port":        {change: func(c *C) { c.Server.Addr = "127.0.0.1:70000" }, key: "server.addr", says: "host:port"},
		"no request timeout":          {change: func(c *C) { c.Server.RequestTimeout = 0 }, key: "server.request_timeout", says: "1ms to 30s, not 0s"},
		"negative shutdown":           {change: func(c *C) { c.Server.ShutdownTimeout = -1 }, key: "server.shutdown_timeout"},
		"negative retention":          {change: func(c *C) { c.Catalog.Retention = -time.Hour }, key: "catalog.retention", says: "0 (items stay) or at least 1h0m0s, not -1h0m0s"},
		"retention without a unit":    {change: func(c *C) { c.Catalog.Retention = 72 }, key: "catalog.retention", says: "at least 1h0m0s, not 72ns"},
		"learned data without a unit": {change: func(c *C) { c.Learning.Retention = 365 }, key: "learning.retention", says: "0 (for ever) or at least 24h0m0s, not 365ns"},
		"reports kept for an hour":    {change: func(c *C) { c.Reports.Retention = time.Hour }, key: "reports.retention", says: "at least 24h0m0s, not 1h0m0s"},
		"retention of a foreign index": {services: true, change: func(c *C) {
			c.Catalog.Retention, c.Elasticsearch.ManageIndex = time.Hour, false
		}, key: "catalog.retention", says: "elasticsearch.manage_index: false"},
		"retention of fields of theirs": {services: true, change: func(c *C) {
			c.Catalog.Retention, c.Elasticsearch.Fields.UpdateTime = time.Hour, "modified"
		}, key: "catalog.retention", says: "where elasticsearch.fields name others"},
		"no such half-life":                      {change: func(c *C) { c.Popularity.HalfLives = []string{"2h", "2d", "3h"} }, key: "popularity.half_lives", says: `"3h" is no half-life`},
		"without 2 hours":                        {change: func(c *C) { c.Popularity.HalfLives = []string{"1h", "2d"} }, key: "popularity.half_lives", says: "must include 2h and 2d"},
		"weight of a half-life that is not kept": {change: func(c *C) { c.Ranking.PopularityMore[0] = 1 }, key: "ranking.weight_1h", says: "the setting popularity.half_lives has 1h"},
		"no data directory":                      {change: func(c *C) { c.DataDir = "" }, key: "data_dir"},
		"unknown mode":                           {change: func(c *C) { c.Auth.Mode = "none" }, key: "auth.mode", says: `header or jwt, not "none"`},
		"header mode for everyone":               {change: func(c *C) { c.Server.Addr = "0.0.0.0:8080" }, key: "auth.mode", says: "auth.trusted_gateway true"},
		"header mode, empty host":                {change: func(c *C) { c.Server.Addr = ":8080" }, key: "auth.mode", says: "auth.trusted_gateway true"},
		"jwt without a key":                      {change: func(c *C) { c.Auth.Mode = "jwt" }, key: "auth.jwt", says: "auth.jwt.jwks"},
		"jwt with two keys":                      {change: func(c *C) { c.Auth.Mode, c.Auth.JWT.Secret, c.Auth.JWT.JWKS = "jwt", strings.Repeat("s", 32), "f" }, key: "auth.jwt", says: "keep one"},
		"jwt without a claim":                    {change: func(c *C) { c.Auth.Mode, c.Auth.JWT.Secret, c.Auth.JWT.Claim = "jwt", strings.Repeat("s", 32), "" }, key: "auth.jwt.claim", says: "such as sub"},
		"jwt with a short secret":                {change: func(c *C) { c.Auth.Mode, c.Auth.JWT.Secret = "jwt", "x" }, key: "auth.jwt.secret", says: "32 bytes or more, not 1"},
		"no number of connections":               {services: true, change: func(c *C) { c.Postgres.URL = "postgres://h/db?pool_max_conns=abc" }, key: "postgres.url", says: "pool_max_conns"},
		"no connections":                         {services: true, change: func(c *C) { c.Postgres.URL = "postgres://h/db?pool_max_conns=0" }, key: "postgres.url", says: "pool_max_conns"},
		"secret of two lines, one of them short": {change: func(c *C) {
			c.Auth.Mode, c.Auth.JWT.Secret = "jwt", strings.Repeat("s", 32)+"\n"+strings.Repeat("t", 31)
		}, key: "auth.jwt.secret", says: "32 bytes or more, not 31"},
		"token of three lines": {change: func(c *C) {
			c.Auth.AdminToken = strings.Repeat("a-token-of-enough-length\n", 2) + "a-third-one-as-long"
		}, key: "auth.admin_token", says: "but for one line break"},
		"token with a blank before a line end": {change: func(c *C) { c.Auth.AdminToken = "a-token-of-enough-length \nthe-token-before-it" }, key: "auth.admin_token", says: "but for one line break"},
		"second token with the form of a JWT": {change: func(c *C) {
			c.Auth.Mode, c.Auth.JWT.Secret, c.Auth.AdminToken = "jwt", strings.Repeat("s", 32), "a-token-of-enough-length\neyJ-_9.abcdefghij.b"
		}, key: "auth.admin_token", says: "three parts"},
		"token with a line end": {change: func(c *C) { c.Auth.AdminToken = "t\n" }, key: "auth.admin_token", says: "white space"},
		"admin token like a reader's": {change: func(c *C) {
			c.Auth.Mode, c.Auth.JWT.Secret, c.Auth.AdminToken = "jwt", strings.Repeat("s", 32), "eyJ-_9.a.b"
		}, key: "auth.admin_token", says: "three parts"},
		"unknown follows":       {change: func(c *C) { c.Social.Follows = "all" }, key: "social.follows", says: "open or app"},
		"nobody works":          {change: func(c *C) { c.Jobs.Workers = 0 }, key: "jobs.workers", says: "no other process"},
		"password in the query": {services: true, change: func(c *C) { c.Postgres.URL = "postgres://h/db?password=x" }, key: "postgres.url", says: "before the host"},
		"postgres without a Redis": {change: func(c *C) {
			c.Postgres.URL = "postgres://127.0.0.1/freshet"
		}, key: "postgres.url", says: "set redis.url, too"},
		"postgres of another form":          {services: true, change: func(c *C) { c.Postgres.URL = "host=127.0.0.1" }, key: "postgres.url", says: "postgres://user:password@host:port/database"},
		"postgres without a host":           {services: true, change: func(c *C) { c.Postgres.URL = "postgres:///db" }, key: "postgres.url", says: "postgres://user@/database?host=/directory"},
		"postgres with a host in its query": {services: true, change: func(c *C) { c.Postgres.URL = "postgres:///db?host=a" }, key: "postgres.url", says: "postgres://user@/database?host=/directory"},
		"lists in Redis without PostgreSQL": {change: func(c *C) { c.Timeline.RedisURL = "redis://a" }, key: "timeline.redis_url", says: "postgres.url"},
		"a bad URL of the lists' Redis":     {services: true, change: func(c *C) { c.Timeline.RedisURL = "a:1" }, key: "timeline.redis_url", says: "redis://"},
		"a database of a cluster of lists":  {services: true, change: func(c *C) { c.Timeline.RedisURL = "redis://a:1/2?addr=b:1" }, key: "timeline.redis_url", says: "cluster"},
		"a list of nothing":                 {change: func(c *C) { c.Timeline.Cap = 0 }, key: "timeline.cap", says: "20 to 5000"},
		"no candidates":                     {change: func(c *C) { c.Recall.N = 0 }, key: "recall.n", says: "1 to 10000, not 0"},
		"too many candidates":               {change: func(c *C) { c.Recall.N = 10001 }, key: "recall.n"},
		"erasures with the data":            {change: func(c *C) { c.Erasures.File = c.DataDir + "/x/erased.ndjson" }, key: "erasures.file", says: "where backups are"},
		"no window":                         {change: func(c *C) { c.Dedup.WindowDays = 0 }, key: "dedup.window_days"},
		"rate of 0":                         {change: func(c *C) { c.Dedup.FalsePositiveRate = 0 }, key: "dedup.false_positive_rate"},
		"rate of 1":                         {change: func(c *C) { c.Dedup.FalsePositiveRate = 1 }, key: "dedup.false_positive_rate"},
		"no capacity":                       {change: func(c *C) { c.Dedup.DailyCapacity = 0 }, key: "dedup.daily_capacity"},
		"no shards":                         {change: func(c *C) { c.Dedup.Shards = 0 }, key: "dedup.shards"},
		"unknown when_exhausted":            {change: func(c *C) { c.Dedup.WhenExhausted = "newest" }, key: "dedup.when_exhausted", says: "stop or oldest"},
		"unknown on_failure":                {change: func(c *C) { c.Dedup.OnFailure = "ajar" }, key: "dedup.on_failure", says: "open or closed"},
		"no session":                        {change: func(c *C) { c.Sessions.TTL = 0 }, key: "sessions.ttl"},
		"unknown on":                        {change: func(c *C) { c.Impressions.On = "clicked" }, key: "impressions.on", says: "served or seen"},
		"an origin with a path":             {change: func(c *C) { c.Server.CORSOrigins = []string{"https://app.example.com/"} }, key: "server.cors.origins", says: "https://app.example.com instead of"},
		"an origin in capitals":             {change: func(c *C) { c.Server.CORSOrigins = []string{"https://App.example.com"} }, key: "server.cors.origins", says: "https://app.example.com instead of"},
		"a scheme in capitals":              {change: func(c *C) { c.Server.CORSOrigins = []string{"HTTPS://app.example.com"} }, key: "server.cors.origins", says: "https://app.example.com instead of"},
		"an origin with half a port":        {change: func(c *C) { c.Server.CORSOrigins = []string{"https://app.example.com:"} }, key: "server.cors.origins", says: "https://app.example.com instead of"},
		"an address with its own port":      {change: func(c *C) { c.Server.CORSOrigins = []string{"https://[::1]:443"} }, key: "server.cors.origins", says: "https://[::1] instead of"},
		"an origin without a scheme":        {change: func(c *C) { c.Server.CORSOrigins = []string{"app.example.com"} }, key: "server.cors.origins", says: "such as https://app.example.com"},
		"an origin that is null":            {change: func(c *C) { c.Server.CORSOrigins = []string{"null"} }, key: "server.cors.origins", says: "such as https://app.example.com"},
		"an empty origin":                   {change: func(c *C) { c.Server.CORSOrigins = []string{""} }, key: "server.cors.origins", says: "such as https://app.example.com"},
		"an origin with its own port":       {change: func(c *C) { c.Server.CORSOrigins = []string{"https://app.example.com:443"} }, key: "server.cors.origins", says: "https://app.example.com instead of"},
		"an origin with a wildcard":         {change: func(c *C) { c.Server.CORSOrigins = []string{"https://*.example.com"} }, key: "server.cors.origins", says: "has a * within it"},
		"an origin not in ASCII":            {change: func(c *C) { c.Server.CORSOrigins = []string{"https://bücher.example"} }, key: "server.cors.origins", says: "ASCII form"},
		"an origin with a password":         {change: func(c *C) { c.Server.CORSOrigins = []string{"https://u:secretpw@a.com"} }, key: "server.cors.origins", says: "such as https://app.example.com"},
		"all origins and one":               {change: func(c *C) { c.Server.CORSOrigins = []string{"*", "https://a.com"} }, key: "server.cors.origins", says: "* alone"},
		"Redis as an address":               {change: func(c *C) { c.Redis.URL = "h:6379" }, key: "redis.url", says: "redis://"},
		"another scheme":                    {change: func(c *C) { c.Redis.URL = "http://h:6379" }, key: "redis.url", says: "redis://"},
		"an unknown parameter":              {change: func(c *C) { c.Redis.URL = "redis://h?pool_size=3" }, key: "redis.url", says: `"pool_size" that is none of addr`},
		"two masters":                       {change: func(c *C) { c.Redis.URL = "redis://h?master_name=a&master_name=b" }, key: "redis.url", says: `"master_name" once`},
		"a master of no name":               {change: func(c *C) { c.Redis.URL = "redis://h?master_name=" }, key: "redis.url", says: "name the master"},
		"a further node without a port":     {change: func(c *C) { c.Redis.URL = "redis://h?addr=b" }, key: "redis.url", says: "host:port"},
		"a password as a parameter":         {change: func(c *C) { c.Redis.URL = "redis://h?password=x" }, key: "redis.url", says: "before the host"},
		"a broken parameter":                {change: func(c *C) { c.Redis.URL = "redis://h?addr=%zz" }, key: "redis.url", says: "%26"},
		"a password of no Redis":            {change: func(c *C) { c.Redis.Password = "x" }, key: "redis.url", says: "redis.password"},
		"a password of no Elasticsearch":    {change: func(c *C) { c.Elasticsearch.Password = "x" }, key: "elasticsearch.addresses", says: "password"},
		"a password of nobody":              {services: true, change: func(c *C) { c.Elasticsearch.Password = "x" }, key: "elasticsearch.password", says: "https://user@host:port"},
		"Redis without a host":              {change: func(c *C) { c.Redis.URL = "redis://:6379" }, key: "redis.url"},
		"Redis with port 0":                 {change: func(c *C) { c.Redis.URL = "redis://h:0" }, key: "redis.url"},
		"negative database":                 {change: func(c *C) { c.Redis.URL = "redis://h/-1" }, key: "redis.url", says: "0 to 16383"},
		"database of a cluster":             {change: func(c *C) { c.Redis.URL = "redis://a:1/2?addr=b:1" }, key: "redis.url", says: "cluster"},
		"braces in the prefix":              {services: true, change: func(c *C) { c.Redis.KeyPrefix = "{x}:" }, key: "redis.key_prefix", says: "braces"},
		"too many replicas":                 {services: true, change: func(c *C) { c.Redis.WaitReplicas = 11 }, key: "redis.wait_replicas"},
		"address without scheme":            {services: true, change: func(c *C) { c.Elasticsearch.Addresses = []string{"h:9200"} }, key: "elasticsearch.addresses", says: "http://"},
		"key and user":                      {change: func(c *C) { c.Elasticsearch.APIKey, c.Elasticsearch.Addresses = "k", []string{"http://u@h:1"} }, key: "elasticsearch.api_key"},
		"no index":                          {services: true, change: func(c *C) { c.Elasticsearch.Index = "" }, key: "elasticsearch.index"},
		"index in capitals":                 {services: true, change: func(c *C) { c.Elasticsearch.Index = "Items" }, key: "elasticsearch.index", says: "lower case"},
		"index pattern":                     {services: true, change: func(c *C) { c.Elasticsearch.Index = "a,b" }, key: "elasticsearch.index", says: `"a,b"`},
		"index with underscore":             {services: true, change: func(c *C) { c.Elasticsearch.Index = "_all" }, key: "elasticsearch.index"},
		"index too long":                    {services: true, change: func(c *C) { c.Elasticsearch.Index = strings.Repeat("x", 241) }, key: "elasticsearch.index"},
		"no id field":                       {services: true, change: func(c *C) { c.Elasticsearch.Fields.ID = "" }, key: "elasticsearch.fields.id"},
		"no title field":                    {services: true, change: func(c *C) { c.Elasticsearch.Fields.Title = "" }, key: "elasticsearch.fields.title"},
		"no time field":                     {services: true, change: func(c *C) { c.Elasticsearch.Fields.UpdateTime = "" }, key: "elasticsearch.fields.update_time"},
		"unknown level":                     {change: func(c *C) { c.Log.Level = "loud" }, key: "log.level", says: "debug, info, warn or error"},
		"unknown format":                    {change: func(c *C) { c.Log.Format = "xml" }, key: "log.format"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := configs.Default()
			if tt.services {
				c = services(t)
			}
			tt.change(&c)
			err := c.Validate()
			var problems configs.Problems
			require.ErrorAs(t, err, &problems)
			found := false
			for _, p := range problems {
				found = found || p.Key == tt.key && strings.Contains(p.Message, tt.says)
			}
			assert.True(t, found, "%s should be named, saying %q: %v", tt.key, tt.says, err)
		})
	}
}

func TestValidateAllows(t *testing.T) {
	type C = configs.Config
	tests := map[string]struct {
		services bool
		change   func(c *C)
	}{
		"header mode behind a gateway": {change: func(c *C) { c.Server.Addr, c.Auth.TrustedGateway = "0.0.0.0:8080", true }},
		"all origins":                  {change: func(c *C) { c.Server.CORSOrigins = []string{"*"} }},
		"some origins": {change: func(c *C) {
			c.Server.CORSOrigins = []string{"https://app.example.com", "http://localhost:3000", "http://[::1]:8081", "capacitor://localhost", "chrome-extension://abcdefgh"}
		}},
		"jwt on every address":            {change: func(c *C) { c.Server.Addr, c.Auth.Mode, c.Auth.JWT.Secret = ":8080", "jwt", strings.Repeat("s", 32) }},
		"a number of connections":         {services: true, change: func(c *C) { c.Postgres.URL = "postgres://h/db?pool_max_conns=5" }},
		"a socket of PostgreSQL":          {services: true, change: func(c *C) { c.Postgres.URL = "postgres:///db?host=/var/run/postgresql" }},
		"a socket, with a user":           {services: true, change: func(c *C) { c.Postgres.URL = "postgresql://u:p@/db?host=/var/run/postgresql&port=5433" }},
		"jwt with a key file":             {change: func(c *C) { c.Auth.Mode, c.Auth.JWT.JWKS = "jwt", "keys.json" }},
		"header mode on IPv6 loopback":    {change: func(c *C) { c.Server.Addr = "[::1]:0" }},
		"header mode on localhost":        {change: func(c *C) { c.Server.Addr = "localhost:8080" }},
		"sentinels with a database":       {change: func(c *C) { c.Redis.URL = "redis://a:1/2?addr=b:1&master_name=m" }},
		"embedded catalog, Redis for all": {services: true, change: func(c *C) { c.Elasticsearch.Addresses = nil }},
		"an index that has no groups":     {services: true, change: func(c *C) { c.Elasticsearch.Fields.GroupID = "" }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := configs.Default()
			if tt.services {
				c = services(t)
			}
			tt.change(&c)
			assert.NoError(t, c.Validate())
		})
	}
}

func TestValidateReportsAllErrors(t *testing.T) {
	c := configs.Default()
	c.Recall.N, c.Dedup.Shards, c.Log.Level = 0, 0, ""
	var problems configs.Problems
	require.ErrorAs(t, c.Validate(), &problems)
	assert.Len(t, problems, 3)
	for _, key := range []string{"recall.n", "dedup.shards", "log.level"} {
		assert.ErrorContains(t, problems, key)
	}
}
