package configs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

// file writes a temporary file and returns its path.
func file(t *testing.T, content string) string {
	path := filepath.Join(t.TempDir(), "value")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// TestValuesFromFiles checks that every value, including every secret, can be read from a
// file, without the line ends at the end of the file.
func TestValuesFromFiles(t *testing.T) {
	base := []string{
		"FRESHET_REDIS_URL=redis://a:1", "FRESHET_ELASTICSEARCH_ADDRESSES=http://u@a:1",
	}
	for key, get := range map[string]func(configs.Config) string{
		"auth.admin_token":       func(c configs.Config) string { return c.Auth.AdminToken },
		"auth.jwt.secret":        func(c configs.Config) string { return c.Auth.JWT.Secret },
		"redis.password":         func(c configs.Config) string { return c.Redis.Server().Password },
		"elasticsearch.password": func(c configs.Config) string { return c.Elasticsearch.Password },
		"log.level":              func(c configs.Config) string { return c.Log.Level },
	} {
		const value, mark = "debug", "\ufeff" // which editors of Windows write before UTF-8
		for _, content := range []string{value, value + "\n", value + "\r\n", value + "\n\n", mark + value + "\r\n"} {
			c, err := configs.Load(configs.Options{Environ: append(base, configs.EnvName(key)+"_FILE="+file(t, content))})
			require.NoError(t, err, key)
			assert.Equal(t, value, get(c), "%s with %q", key, content)
		}
	}
	for key, url := range map[string]string{"redis.url": "redis://u:pw@h:1", "postgres.url": "postgres://u:pw@h/d", "timeline.redis_url": "redis://u:pw@h:1"} {
		c, err := configs.Load(configs.Options{Environ: []string{
			configs.EnvName(key) + "_FILE=" + file(t, url+"\n"), "FRESHET_REDIS_KEY_PREFIX=x",
		}})
		if err != nil { // other required settings may be missing
			assert.NotContains(t, err.Error(), "_FILE", key)
			assert.NotContains(t, err.Error(), "pw", key)
			continue
		}
		assert.Contains(t, strings.Join([]string{c.Redis.URL, c.Postgres.URL, c.Timeline.RedisURL}, " "), url)
	}
}

func TestValuesFromInvalidFiles(t *testing.T) {
	for says, environ := range map[string][]string{
		"FRESHET_AUTH_ADMIN_TOKEN_FILE open /no/such/file": {"FRESHET_AUTH_ADMIN_TOKEN_FILE=/no/such/file"},
		"is empty": {"FRESHET_AUTH_ADMIN_TOKEN_FILE=" + file(t, "\n")},
		"FRESHET_AUTH_ADMIN_TOKEN_FILE and FRESHET_AUTH_ADMIN_TOKEN are both set":        {"FRESHET_AUTH_ADMIN_TOKEN_FILE=" + file(t, "x"), "FRESHET_AUTH_ADMIN_TOKEN=y"},
		"FRESHET_AUTH_ADMIN_TOKENS_FILE is not a setting; the nearest is FRESHET_AUTH_A": {"FRESHET_AUTH_ADMIN_TOKENS_FILE=" + file(t, "x")},
		"auth.admin_token must not begin or end with white space":                        {"FRESHET_AUTH_ADMIN_TOKEN_FILE=" + file(t, "x \n")},
		"is UTF-16": {"FRESHET_REDIS_PASSWORD_FILE=" + file(t, "\xff\xfex\x00\n\x00")},
		"auth.admin_token must not contain line breaks":      {"FRESHET_AUTH_ADMIN_TOKEN_FILE=" + file(t, "x\ny\n")},
		"elasticsearch.api_key must not contain line breaks": {"FRESHET_ELASTICSEARCH_API_KEY_FILE=" + file(t, "\u200bx")},
	} {
		_, err := configs.Load(configs.Options{Environ: environ})
		assert.ErrorContains(t, err, says)
	}
	c, err := configs.Load(configs.Options{Environ: []string{"FRESHET_AUTH_ADMIN_TOKEN_FILE=", "FRESHET_AUTH_ADMIN_TOKEN=x"}})
	require.NoError(t, err, "an empty variable is not set")
	assert.Equal(t, "x", c.Auth.AdminToken)
}

// TestHiddenCharactersRefused checks that each setting that is a text, from each source, is refused with
// characters that nobody sees, and that the message says so and shows no secret. They come with line ends of
// Windows, secrets made with echo, and copies from pages.
func TestHiddenCharactersRefused(t *testing.T) {
	t.Parallel()
	secrets := []string{"auth.admin_token", "auth.jwt.secret", "redis.password", "elasticsearch.password", "elasticsearch.api_key"}
	checked := 0
	for _, key := range configs.Keys() {
		name := configs.EnvName(key)
		if key == "ranking" || configs.KindOf(key) != "string" && configs.KindOf(key) != "list" {
			continue
		}
		checked++
		around := []string{" the-value", "the-value\t", "the-value\u00a0", "the-value\u3000"}
		if configs.KindOf(key) != "list" { // their entries are trimmed
			around = append(around, "the-value\r", "the-value\n", "the-value\r\n")
		} else {
			around = nil
		}
		for _, value := range around {
			_, err := configs.Load(configs.Options{Environ: []string{name + "=" + value}})
			require.ErrorContains(t, err, key+" must not begin or end with white space", "%q", value)
			require.ErrorContains(t, err, name+"_FILE reads a file")
			if slices.Contains(secrets, key) {
				require.NotContains(t, err.Error(), "the-value")
			}
			_, err = configs.Load(configs.Options{Environ: []string{name + "_FILE=" + file(t, value+" ")}})
			require.ErrorContains(t, err, key+" must not begin or end with white space", "%q in a file", value)
		}
		if slices.Contains(secrets, key) {
			continue
		}
		for _, value := range []string{"\u200bthe-value", "the\u200b-value", "the\ufeff-value", "the\nvalue", "the\x00value"} {
			_, err := configs.Load(configs.Options{Environ: []string{name + "=" + value}})
			require.ErrorContains(t, err, key+" must not contain line breaks and other characters that cannot be seen", "%q", value)
		}
	}
	require.Greater(t, checked, 40)
}

// TestPathsAndContentsMixedUp gives each setting that names a file the content of one, or a URL, each variable
// …_FILE a value, and each secret a path: the message says which of the two it is, and shows no value.
func TestPathsAndContentsMixedUp(t *testing.T) {
	t.Parallel()
	const key = "-----BEGIN PRIVATE KEY-----\nMIIabcdef\n-----END PRIVATE KEY-----\n"
	of := func(variable, value string) error {
		_, err := configs.Load(configs.Options{Environ: []string{variable + "=" + value}})
		require.Error(t, err, variable)
		return err
	}
	for _, setting := range configs.FileSettings {
		for value, says := range map[string]string{
			key: "has the content of one", `{"keys":[]}`: "has the content of one", "https://id.example.com/jwks": "is a URL", "file:///etc/ca.pem": "is a URL",
		} {
			err := of(configs.EnvName(setting), value)
			require.ErrorContains(t, err, setting+" must name a file, and "+says)
			require.NotContains(t, err.Error(), "abcdef")
		}
	}
	for _, setting := range configs.Keys() {
		for _, value := range []string{"s3cr3t-value", "s3cr3t+value/of=base64", "redis://u:s3cr3t@h:1", key, strings.Repeat("s3cr3t", 1000)} {
			err := of(configs.EnvName(setting)+"_FILE", value)
			require.ErrorContains(t, err, configs.EnvName(setting)+"_FILE must name a file: ")
			require.ErrorContains(t, err, "as it may be the one that belongs into "+configs.EnvName(setting))
			require.NotContains(t, err.Error(), "s3cr3t")
			require.NotContains(t, err.Error(), "abcdef")
		}
	}
	path := file(t, "the-password\n")
	for _, setting := range []string{"auth.admin_token", "auth.jwt.secret", "redis.password", "elasticsearch.password", "elasticsearch.api_key"} {
		err := of(configs.EnvName(setting), path)
		require.ErrorContains(t, err, configs.EnvName(setting)+": "+setting+" is the path of a file, and not what is in it: name the file in the variable "+configs.EnvName(setting)+"_FILE")
	}
	_, err := configs.Load(configs.Options{Environ: []string{"FRESHET_AUTH_ADMIN_TOKEN=/abc/def+/="}})
	require.NoError(t, err, "a secret may begin as a path does")
}

// TestValueFilesReloaded checks that a changed file is read within a second, and that an unusable
// one changes nothing.
func TestValueFilesReloaded(t *testing.T) {
	path := file(t, "first-token\n")
	loaded, err := configs.Load(configs.Options{Environ: []string{"FRESHET_AUTH_ADMIN_TOKEN_FILE=" + path}})
	require.NoError(t, err)
	require.True(t, loaded.FromFiles())
	synctest.Test(t, func(t *testing.T) {
		fresh := loaded.Fresh()
		var log bytes.Buffer
		masking := configs.Masking(&log, loaded)
		for _, step := range []struct{ content, want string }{
			{"first-token\n", "first-token"},
			{"second-token\n", "second-token"},
			{"", "second-token"},
			{" third-token", "second-token"},
			{"fourth-token", "fourth-token"},
		} {
			require.NoError(t, os.WriteFile(path, []byte(step.content), 0o600))
			time.Sleep(time.Second)
			assert.Equal(t, step.want, fresh().Auth.AdminToken, "%q", step.content)
			_, err := masking.Write([]byte("token " + step.want + "\n"))
			require.NoError(t, err)
		}
		require.NoError(t, os.Remove(path))
		time.Sleep(time.Second)
		assert.Equal(t, "fourth-token", fresh().Auth.AdminToken)
		_, err := masking.Write([]byte("an older one: first-token\n"))
		require.NoError(t, err)
		assert.NotContains(t, log.String(), "-token", "all that were in force are masked")
	})
}

// TestFlagNotReloaded: a flag overrides the file.
func TestFlagNotReloaded(t *testing.T) {
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	configs.AddFlags(fs)
	require.NoError(t, fs.Parse([]string{"--auth.admin_token", "of-the-flag"}))
	c, err := configs.Load(configs.Options{Environ: []string{"FRESHET_AUTH_ADMIN_TOKEN_FILE=" + file(t, "of-the-file")}, Flags: fs})
	require.NoError(t, err)
	assert.Equal(t, "of-the-flag", c.Auth.AdminToken)
	assert.False(t, c.FromFiles())
}

func TestClientCertificates(t *testing.T) {
	for says, environ := range map[string][]string{
		"redis.client_cert and redis.client_key belong together":                 {"FRESHET_REDIS_URL=rediss://a:1", "FRESHET_REDIS_CLIENT_CERT=a"},
		"redis.ca_cert and redis.client_cert are for connections with TLS":       {"FRESHET_REDIS_URL=redis://a:1", "FRESHET_REDIS_CA_CERT=a"},
		"elasticsearch.client_cert and elasticsearch.client_key belong together": {"FRESHET_ELASTICSEARCH_ADDRESSES=https://a:1", "FRESHET_ELASTICSEARCH_CLIENT_KEY=a"},
		"write elasticsearch.addresses with https://":                            {"FRESHET_ELASTICSEARCH_ADDRESSES=http://a:1", "FRESHET_ELASTICSEARCH_CLIENT_KEY=a", "FRESHET_ELASTICSEARCH_CLIENT_CERT=b"},
	} {
		_, err := configs.Load(configs.Options{Environ: environ})
		assert.ErrorContains(t, err, says)
	}
	_, err := configs.Load(configs.Options{Environ: []string{
		"FRESHET_REDIS_URL=rediss://a:1", "FRESHET_REDIS_CA_CERT=a", "FRESHET_REDIS_CLIENT_CERT=a", "FRESHET_REDIS_CLIENT_KEY=b",
		"FRESHET_ELASTICSEARCH_ADDRESSES=https://a:1", "FRESHET_ELASTICSEARCH_CA_CERT=a", "FRESHET_ELASTICSEARCH_CLIENT_CERT=a", "FRESHET_ELASTICSEARCH_CLIENT_KEY=b",
	}})
	require.NoError(t, err)
}

// TestQuotedVariablesRefused: programs that read files of variables without a shell's rules keep the
// quotes, which would become part of a password or a token.
func TestQuotedVariablesRefused(t *testing.T) {
	for _, key := range configs.Keys() {
		for _, quote := range []string{`"`, "'"} {
			name := configs.EnvName(key)
			_, err := configs.Load(configs.Options{Environ: []string{name + "=" + quote + "some-value" + quote}})
			require.ErrorContains(t, err, "the value of "+name+" has quotes around it")
			assert.NotContains(t, err.Error(), "some-value")
		}
	}
	for _, value := range []string{`"half`, `half"`, `"`, `in"the"middle`} {
		c, err := configs.Load(configs.Options{Environ: []string{"FRESHET_AUTH_ADMIN_TOKEN=" + value}})
		require.NoError(t, err, value)
		assert.Equal(t, value, c.Auth.AdminToken)
	}
	c, err := configs.Load(configs.Options{Environ: []string{"FRESHET_AUTH_ADMIN_TOKEN_FILE=" + file(t, `"a token with quotes"`)}})
	require.NoError(t, err)
	assert.Equal(t, `"a token with quotes"`, c.Auth.AdminToken, "a file is taken as it is")
}

// TestEmptyConfigurationRefused: a file without content, such as one that was cut short, is not taken for
// one that leaves everything at its default.
func TestEmptyConfigurationRefused(t *testing.T) {
	for _, content := range []string{"", "\n", " \n\t\n"} {
		_, err := configs.Load(configs.Options{Path: file(t, content)})
		require.ErrorContains(t, err, "is empty: the defaults are in force without --config")
	}
	_, err := configs.Load(configs.Options{Path: file(t, "# server: {addr: 127.0.0.1:1}\n")})
	require.NoError(t, err, "a comment is content")
}

// pipe returns the path of a pipe with this content, which can be read once.
func pipe(t *testing.T, content string) string {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	_, err = w.WriteString(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return fmt.Sprintf("/dev/fd/%d", r.Fd())
}

// TestPipesReadOnce: the configuration and a value may come from a pipe, such as the <(…) of a shell, and
// stay as they are. They cannot be loaded again.
func TestPipesReadOnce(t *testing.T) {
	from := configs.Options{
		Path:    pipe(t, "server: {rate_limit: 7}"),
		Environ: []string{"FRESHET_AUTH_ADMIN_TOKEN_FILE=" + pipe(t, "first-token\n")},
	}
	c, err := configs.Load(from)
	require.NoError(t, err)
	assert.InDelta(t, 7, c.Server.RateLimit, 0)
	assert.Equal(t, "first-token", c.Auth.AdminToken)
	assert.False(t, c.FromFiles(), "there is nothing to read again")

	from.Again = true
	_, err = configs.Load(from)
	require.ErrorContains(t, err, from.Path+" is a pipe, and must be a file")
	from.Path = ""
	_, err = configs.Load(from)
	require.ErrorContains(t, err, "FRESHET_AUTH_ADMIN_TOKEN_FILE "+strings.TrimPrefix(from.Environ[0], "FRESHET_AUTH_ADMIN_TOKEN_FILE=")+" is a pipe, and must be a file")
}

// TestAdminTokenOfCommands checks which token commands send, on the machine of a server.
func TestAdminTokenOfCommands(t *testing.T) {
	t.Parallel()
	rotated := file(t, "the-new-admin-token\nthe-former-admin-token\n")
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"FRESHET_AUTH_ADMIN_TOKEN": "of-the-server"}, "of-the-server"},
		{map[string]string{"FRESHET_AUTH_ADMIN_TOKEN": "of-the-server", "FRESHET_ADMIN_TOKEN": "to-send"}, "to-send"},
		{map[string]string{"FRESHET_AUTH_ADMIN_TOKEN_FILE": rotated}, "the-new-admin-token"},
		{map[string]string{"FRESHET_AUTH_ADMIN_TOKEN_FILE": "/no/such/file", "FRESHET_ADMIN_TOKEN": "to-send"}, "to-send"},
	} {
		got, err := configs.AdminToken(func(name string) string { return tt.env[name] })
		require.NoError(t, err)
		require.Equal(t, tt.want, got, "%v", tt.env)
	}
	_, err := configs.AdminToken(func(name string) string {
		return map[string]string{"FRESHET_AUTH_ADMIN_TOKEN_FILE": "/no/such/file"}[name]
	})
	require.ErrorContains(t, err, "FRESHET_AUTH_ADMIN_TOKEN_FILE: open /no/such/file")
}

// TestSecretOfTwoLines checks that a secret in rotation is loaded from a file, and each of its lines is
// masked.
func TestSecretOfTwoLines(t *testing.T) {
	t.Parallel()
	c, err := configs.Load(configs.Options{Environ: []string{"FRESHET_AUTH_ADMIN_TOKEN_FILE=" + file(t, "the-new-admin-token\nthe-former-admin-token\n")}})
	require.NoError(t, err)
	require.NoError(t, c.Validate())
	require.Equal(t, []string{"the-new-admin-token", "the-former-admin-token"}, configs.Lines(c.Auth.AdminToken))
	var log bytes.Buffer
	_, err = configs.Masking(&log, c).Write([]byte("sent the-former-admin-token, not the-new-admin-token\n"))
	require.NoError(t, err)
	require.NotContains(t, log.String(), "admin-token")
}
