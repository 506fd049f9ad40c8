package configs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMaskingSecretForms(t *testing.T) {
	c := Default()
	c.Auth.JWT.Secret = "<word>&\n"
	c.Redis.Password = `pass "word" &%`
	c.Redis.URL = "redis://s:pass%20%22word%22%20%26%25%2C%20and%20more@h?master_name=m&password=of-the-master"
	c.Auth.AdminToken = "admin-token"
	c.Elasticsearch.Password = "changeme"
	c.Elasticsearch.Addresses = []string{"http://u:in%2Faddress@127.0.0.1:9200", "http://elastic@127.0.0.1:9201"}
	for _, text := range []string{
		`auth pass "word" &%`, `auth pass "word" &%, and more`, "x-admin-token: admin-token", "Basic ZWxhc3RpYzpjaGFuZ2VtZQ==",
		"http://u:in%2Faddress@127.0.0.1:9200", "u in/address", "pass+%22word%22+%26%25", "pass%20%22word%22%20&%25", "NOAUTH of-the-master", "jwt <word>&\n",
	} {
		for name, write := range map[string]func(*bytes.Buffer){
			"plain": func(b *bytes.Buffer) { _, _ = fmt.Fprintln(Masking(b, c), "ERR", text, "END") },
			"json":  func(b *bytes.Buffer) { slog.New(slog.NewJSONHandler(Masking(b, c), nil)).Info("x", "error", text) },
			"plain JSON": func(b *bytes.Buffer) {
				_ = json.NewEncoder(Masking(b, c)).Encode(map[string]string{"detail": text, "quoted": strconv.Quote(text)})
			},
			"text": func(b *bytes.Buffer) { slog.New(slog.NewTextHandler(Masking(b, c), nil)).Info("x", "error", text) },
		} {
			var b bytes.Buffer
			write(&b)
			require.Contains(t, b.String(), masked, "%s: %s", name, text)
			for _, part := range []string{"word", "admin-token ", "ZWxhc3", "changeme", "address", "more", "the-master"} {
				require.NotContains(t, b.String(), part, "%s: %s", name, text)
			}
		}
	}
}

func TestMaskingKeepsOtherText(t *testing.T) {
	var b bytes.Buffer
	c := Default()
	c.Redis.Password = "abc" // too short to distinguish from words
	n, err := fmt.Fprint(Masking(&b, c), "abc is the alphabet")
	require.NoError(t, err)
	require.Equal(t, 19, n)
	require.Equal(t, "abc is the alphabet", b.String())
	require.Same(t, &b, Masking(&b, Default()), "nothing to mask costs nothing")
}

// TestSecretsReloaded checks that every secret setting, and every address that can contain
// one, is reread from the file that a variable names.
func TestSecretsReloaded(t *testing.T) {
	const redis, elastic, postgres = "redis://u:%s@h:1", "http://u:%s@h:1", "postgres://u:%s@h/d"
	services := []string{"FRESHET_REDIS_URL=redis://h:1", "FRESHET_ELASTICSEARCH_ADDRESSES=http://u@h:1"}
	inAddresses := map[string]string{"redis.url": redis, "timeline.redis_url": redis, "elasticsearch.addresses": elastic, "postgres.url": postgres}
	beside := map[string][]string{
		"auth.jwt.secret": {"FRESHET_AUTH_MODE=jwt"}, "redis.password": services, "elasticsearch.password": services,
		"elasticsearch.api_key": {services[0], "FRESHET_ELASTICSEARCH_ADDRESSES=http://h:1"}, "redis.url": services[1:],
		"elasticsearch.addresses": services[:1], "postgres.url": services, "timeline.redis_url": append(services, "FRESHET_POSTGRES_URL=postgres://h/d"),
	}
	for _, f := range schema {
		form, address := inAddresses[f.key]
		if !f.secret && !address {
			require.NotContains(t, f.help, "password@", "%s has a secret; add it here", f.key)
			continue
		}
		if !address {
			form = "%s"
		}
		path := filepath.Join(t.TempDir(), "value")
		write := func(secret string) {
			require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, form+"\n", secret), 0o600))
		}
		first, second := strings.Repeat("first", 8), strings.Repeat("second", 8)
		write(first)
		c, err := Load(Options{Environ: append(slices.Clone(beside[f.key]), EnvName(f.key)+fileSuffix+"="+path)})
		require.NoError(t, err, f.key)
		synctest.Test(t, func(t *testing.T) {
			fresh := c.Fresh()
			require.Contains(t, fmt.Sprint(f.value(new(fresh()))), first, f.key)
			write(second)
			time.Sleep(time.Second)
			require.Contains(t, fmt.Sprint(f.value(new(fresh()))), second, f.key)
			if f.key == "timeline.redis_url" {
				lists := c.WithListsRedis().Fresh()
				time.Sleep(time.Second)
				require.Contains(t, lists().Redis.URL, second)
			}
		})
	}
}
