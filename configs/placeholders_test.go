package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPlaceholdersRefused puts each form of placeholder into each setting of text: alone into secrets, and
// within a value into others. The message names the key and repeats no value.
func TestPlaceholdersRefused(t *testing.T) {
	t.Parallel()
	forms := []string{"${PASSWORD}", "${PASSWORD:-secret}", "$(PASSWORD)", "{{ .Values.password }}"}
	for _, f := range schema {
		for _, form := range forms {
			c := Default()
			value := form
			switch f.kind.name {
			case "string":
				if !f.secret {
					value = "a" + form + "b"
				}
			case "list":
				value = "https://u:" + form + "@es-1:9200"
			default:
				continue
			}
			require.NoError(t, f.set(&c, value), f.key)
			var problems Problems
			require.ErrorAs(t, c.Validate(), &problems, "%s: %s", f.key, value)
			require.Len(t, problems, 1, f.key)
			assert.Equal(t, f.key, problems[0].Key)
			assert.Contains(t, problems[0].Message, "has a placeholder")
			assert.Contains(t, problems[0].Message, EnvName(f.key)+"_FILE")
			assert.NotContains(t, problems[0].Message, "Values.password")
		}
	}
}

// TestPlaceholdersInAddresses has those of documents and portals, and values that look like them and are none.
func TestPlaceholdersInAddresses(t *testing.T) {
	t.Parallel()
	for value, refused := range map[string]bool{
		"redis://:…@redis-1:6379":             true,
		"redis://:<password>@redis-1:6379":    true,
		"redis://{host}:6379":                 true,
		"redis://:$(REDIS_PASSWORD)@redis-1":  true,
		"redis://:%24%7BNAME%7D@redis-1:6379": false,
		"redis://:pa$word@redis-1:6379":       false,
		"redis://:a(b)c@redis-1:6379":         false,
	} {
		c := Default()
		c.Redis.URL = value
		assert.Equal(t, refused, c.Validate() != nil, value)
	}
	for value, refused := range map[string]bool{
		"…": true, "...": true, "<token>": true, "$ADMIN_TOKEN": true,
		"a${b}c": false, "pa$WORD": false, "<a>b": false, "$lower": false,
	} {
		c := Default()
		c.Auth.AdminToken = value
		assert.Equal(t, refused, c.Validate() != nil, value)
	}
	c := Default()
	c.Auth.JWT.Issuer = "https://login.microsoftonline.com/{tenantid}/v2.0"
	require.ErrorContains(t, c.Validate(), "auth.jwt.issuer has a placeholder")
}

// TestSeveralServersInRedisURL checks that a list with commas, as other programs take it, is refused with the
// form that is right: it was taken for one host.
func TestSeveralServersInRedisURL(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"redis://r-1:6379,r-2:6379", "redis://r-1,r-2:6379", "rediss://u:p@r-1:6379,r-2:6379,r-3:6379/0",
		"redis://s-1:26379,s-2:26379?master_name=m",
	} {
		c := Default()
		c.Redis.URL = value
		require.ErrorContains(t, c.Validate(), "?addr=host:port", value)
	}
}

// TestErrorsOfYAMLSayWhatToDo has the mistakes of files that are written by hand.
func TestErrorsOfYAMLSayWhatToDo(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"redis:\n  key_prefix: app:\n":                       "needs quotes",
		"server:\n\taddr: 127.0.0.1:8080\n":                  "not with tabs",
		"auth:\n  admin_token: @abcdef\n":                    "needs quotes",
		"auth:\n  admin_token: `abcdef\n":                    "needs quotes",
		"auth:\n  admin_token: %abcdef\n":                    "needs quotes",
		"auth:\n  admin_token: *abcdef\n":                    "needs quotes",
		"server:\n  addr: 127.0.0.1:8080\n drain: 1s\n":      "",
		"# caf\xe9\nserver:\n  addr: 127.0.0.1:8080\n":       "as UTF-8",
		"server:\n  addr: 127.0.0.1:8080 # caf\xe9 \xe8\n":   "as UTF-8",
		"data_dir=./freshet-data\n":                          "is a key with a colon",
		"server:\n  addr: \x01127.0.0.1:8080\n":              "cannot be seen",
		"server:\n  addr: 127.0.0.1:8080\nserver:\n  x: 1\n": "already defined",
	} {
		path := filepath.Join(t.TempDir(), "freshet.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Load(Options{Path: path})
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), says, text)
		assert.NotContains(t, strings.TrimPrefix(err.Error(), "configuration: "), "abcdef", "a secret")
	}
}

// TestAPIKeyEncoded checks that the parts of an API key, which Elasticsearch answers with 401, are refused.
func TestAPIKeyEncoded(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Elasticsearch.Addresses, c.Elasticsearch.APIKey = []string{"https://es-1:9200"}, "VuaCfGcBCdbkQm-e5aOx:ui2lp2axTNmsyakw9tvNnw"
	require.ErrorContains(t, c.Validate(), "must be the encoded key")
	assert.NotContains(t, c.Validate().Error(), "ui2lp2", "the secret is not repeated")
	c.Elasticsearch.APIKey = "VnVhQ2ZHY0JDZGJrUW0tZTVhT3g6dWkybHAyYXhUTm1zeWFrdzl0dk5udw=="
	require.NoError(t, c.Validate())
}
