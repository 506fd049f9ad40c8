package backup_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/backup"
)

// TestBucketRefusals backs up to, and restores from, buckets that refuse it: each error says what to do, and the
// credentials are in none.
func TestBucketRefusals(t *testing.T) {
	t.Parallel()
	cfg := stopped(t)
	address := inBucket(t, testenv.Unique())
	for change, says := range map[[2]string]string{
		{"s3://freshet/", "s3://nowhere-to-be-found/"}: "there is no such bucket; create it, or correct the address",
		{"region=", "anonymous=true&region="}:          "these credentials may not do this; docs/operations.md lists the rights",
		{"127.0.0.1:", "127.0.0.1:1"}:                  "connect",
	} {
		at := strings.Replace(address, change[0], change[1], 1)
		_, made := backup.Make(t.Context(), cfg, at, backup.Options{}, time.Now)
		_, restored := backup.Restore(t.Context(), embedded(t), at, backup.Options{})
		for _, err := range []error{made, restored} {
			require.ErrorContains(t, err, says, at)
			assert.NotContains(t, err.Error(), "freshet-for-tests")
		}
	}
	_, err := backup.Restore(t.Context(), embedded(t), address, backup.Options{})
	require.ErrorContains(t, err, "is not a backup")

	g := target{address: address}
	g.write(t, "thesis.txt", []byte("x"))
	_, err = backup.Make(t.Context(), cfg, address, backup.Options{}, time.Now)
	require.ErrorContains(t, err, "has files that are not a backup's, such as thesis.txt")
	g.write(t, "thesis.txt", nil)
	g.make(t, cfg)
	g.write(t, "manifest.json", nil)
	_, err = backup.Restore(t.Context(), embedded(t), address, backup.Options{})
	require.ErrorContains(t, err, "the backup is not finished")
}

// TestBucketPrefixes makes backups below each other's prefixes, with names that addresses write otherwise: none
// touches another.
func TestBucketPrefixes(t *testing.T) {
	t.Parallel()
	cfg, prefix := stopped(t), testenv.Unique()
	var all []target
	for _, name := range []string{"a", "a-b", "ä b+%[1]"} {
		g := target{address: inBucket(t, prefix+"/"+name)}
		all = append(all, g)
		g.make(t, cfg)
	}
	for _, g := range all {
		to := embedded(t)
		g.restore(t, to)
		assert.Empty(t, g.verify(t, to).Differences)
	}
}

// TestBucketDenied has a store that refuses everything.
func TestBucketDenied(t *testing.T) {
	cfg := stopped(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "key-of-a-test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-of-a-test")
	code := ""
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte("<Error><Code>" + code + "</Code><Message>what the store says</Message></Error>"))
	}))
	t.Cleanup(store.Close)
	address := "s3://bucket/backup?region=r&use_path_style=true&endpoint=" + store.URL
	for of, says := range map[string]string{
		"AccessDenied": "these credentials may not do this", "InvalidAccessKeyId": "correct AWS_ACCESS_KEY_ID", "RequestTimeTooSkewed": "correct them (NTP)",
	} {
		code = of
		_, made := backup.Make(t.Context(), cfg, address, backup.Options{}, time.Now)
		_, restored := backup.Restore(t.Context(), embedded(t), address, backup.Options{})
		for _, err := range []error{made, restored} {
			require.ErrorContains(t, err, says)
			assert.NotContains(t, err.Error(), "of-a-test")
		}
	}
}
