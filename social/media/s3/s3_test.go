package s3

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/media"
	"github.com/freshet/freshet/social/media/mediatest"
)

func open(t *testing.T, address string) (*Store, error) {
	t.Helper()
	at, err := url.Parse(address)
	require.NoError(t, err)
	s, err := Open(at)
	if err == nil {
		t.Cleanup(func() { assert.NoError(t, s.Close()) })
	}
	return s, err
}

func TestConformance(t *testing.T) {
	t.Parallel()
	address := testenv.S3(t)
	mediatest.Run(t, func(t *testing.T) media.Store {
		s, err := open(t, address+"&prefix="+testenv.Unique()+"/")
		require.NoError(t, err)
		return s
	})
}

func TestPrefixesSeparate(t *testing.T) {
	t.Parallel()
	address := testenv.S3(t) + "&prefix=" + testenv.Unique()
	f := media.File{Type: "image/png", Data: []byte("x")}
	for _, prefix := range []string{"-a/", "-b/"} {
		s, err := open(t, address+prefix)
		require.NoError(t, err)
		require.NoError(t, s.Put(t.Context(), "1", f))
	}
	whole, err := open(t, address)
	require.NoError(t, err)
	keys, err := whole.Keys(t.Context(), 9)
	require.NoError(t, err)
	assert.Equal(t, []string{"-a/1", "-b/1"}, keys)
}

// A missing bucket is a different error from a missing file: a post must not lose its images.
func TestMissingBucket(t *testing.T) {
	t.Parallel()
	s, err := open(t, strings.Replace(testenv.S3(t), "s3://freshet", "s3://nowhere-to-be-found", 1))
	require.NoError(t, err)
	_, err = s.Open(t.Context(), "1")
	require.Error(t, err)
	require.NotErrorIs(t, err, feed.ErrNotFound)
}

// The probe reports missing permissions on a bucket.
func TestProbeWithoutPermission(t *testing.T) {
	t.Parallel()
	s, err := open(t, testenv.S3(t)+"&anonymous=true")
	require.NoError(t, err)
	require.ErrorContains(t, media.Probe(t.Context(), s, time.Now()), "store a file")
}

// fresh clears the environment variables that configure S3.
func fresh(t *testing.T) {
	t.Helper()
	for _, name := range append([]string{
		"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
		"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ROLE_ARN", "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
		"AWS_EC2_METADATA_SERVICE_ENDPOINT",
	}, ofContainer...) {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
}

func TestAddresses(t *testing.T) {
	fresh(t)
	for query, want := range map[string]address{
		"region=eu-central-1":                                       {host: amazon, secure: true, region: "eu-central-1"},
		"region=r&prefix=images/":                                   {host: amazon, secure: true, region: "r", prefix: "images/"},
		"endpoint=https://store.example":                            {host: "store.example", secure: true, region: "us-east-1", lookup: minio.BucketLookupDNS},
		"endpoint=http://127.0.0.1:9/&use_path_style=true&region=r": {host: "127.0.0.1:9", region: "r", lookup: minio.BucketLookupPath},
		"region=r&anonymous=true":                                   {host: amazon, secure: true, region: "r", anonymous: true},
		"region=r&machine_role=true&use_path_style=false":           {host: amazon, secure: true, region: "r", machineRole: true},
	} {
		got, err := parse(&url.URL{Scheme: "s3", Host: "b", RawQuery: query})
		require.NoError(t, err, query)
		assert.Equal(t, want, got, query)
	}
	for query, want := range map[string]string{
		"":                               "region is missing",
		"region=r&regoin=r":              "parameter regoin: unknown; known are region, endpoint",
		"use_path_style=perhaps":         "parameter use_path_style",
		"machine_role=x":                 "parameter machine_role",
		"anonymous=x":                    "parameter anonymous",
		"endpoint=store.example:9000":    "must be http://",
		"endpoint=ftp://store.example":   "must be http://",
		"endpoint=https://h/folder":      "must be http://",
		"endpoint=https://key:secret@h/": "must be http://",
	} {
		_, err := parse(&url.URL{Scheme: "s3", Host: "b", RawQuery: query})
		require.ErrorContains(t, err, want, query)
	}
	t.Setenv("AWS_DEFAULT_REGION", "of-all")
	got, err := parse(&url.URL{})
	require.NoError(t, err)
	assert.Equal(t, "of-all", got.region)
	t.Setenv("AWS_REGION", "of-this")
	got, err = parse(&url.URL{})
	require.NoError(t, err)
	assert.Equal(t, "of-this", got.region)
}

// cloud serves as an S3 store and as a cloud's credentials endpoint, and records the requests.
type cloud struct {
	*httptest.Server
	mu    sync.Mutex
	paths []string
	keys  []string // of the signatures of requests to the store
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{}
	const role = `{"Code":"Success","AccessKeyId":"of-the-role","SecretAccessKey":"s","Token":"t","Expiration":"2999-01-01T00:00:00Z"}`
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.paths = append(c.paths, r.URL.Path)
		answer := role
		switch r.URL.Path {
		case "/latest/api/token":
			answer = "token"
		case "/latest/meta-data/iam/security-credentials/":
			answer = "name"
		case "/bucket/":
			_, signed, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
			key, _, _ := strings.Cut(signed, "/")
			c.keys = append(c.keys, key)
			answer = `<ListBucketResult></ListBucketResult>`
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(c.Close)
	return c
}

// signs opens the cloud's bucket and returns the key that signs requests.
func (c *cloud) signs(t *testing.T, parameters string) string {
	t.Helper()
	s, err := open(t, "s3://bucket?use_path_style=true&endpoint="+c.URL+parameters)
	require.NoError(t, err)
	_, err = s.Keys(t.Context(), 1)
	require.NoError(t, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	require.NotEmpty(t, c.keys)
	return c.keys[len(c.keys)-1]
}

func TestCredentials(t *testing.T) {
	fresh(t)
	c := newCloud(t)
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", c.URL)
	_, err := open(t, "s3://bucket?use_path_style=true&endpoint="+c.URL)
	require.ErrorContains(t, err, "AWS_ACCESS_KEY_ID")
	require.ErrorContains(t, err, "machine_role=true")
	assert.Empty(t, c.paths, "no credentials were requested")

	assert.Empty(t, c.signs(t, "&anonymous=true"))
	assert.Equal(t, []string{"/bucket/"}, c.paths)
	assert.Equal(t, "of-the-role", c.signs(t, "&machine_role=true"))
	assert.Contains(t, c.paths, "/latest/meta-data/iam/security-credentials/name")

	c.paths = nil
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", c.URL+"/of-the-container")
	assert.Equal(t, "of-the-role", c.signs(t, ""))
	assert.Equal(t, []string{"/of-the-container", "/bucket/"}, c.paths)

	c.paths = nil
	file := filepath.Join(t.TempDir(), "credentials")
	require.NoError(t, os.WriteFile(file, []byte("[default]\naws_access_key_id = of-the-file\naws_secret_access_key = s\n"), 0o600))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	assert.Equal(t, "of-the-file", c.signs(t, ""))
	s, err := open(t, "s3://bucket?use_path_style=true&endpoint="+c.URL)
	require.NoError(t, err)
	for _, key := range []string{"first", "second"} { // each request is signed with the current key in the file
		require.NoError(t, os.WriteFile(file, []byte("[default]\naws_access_key_id = "+key+"\naws_secret_access_key = s\n"), 0o600))
		_, err := s.Keys(t.Context(), 1)
		require.NoError(t, err)
		assert.Equal(t, key, c.keys[len(c.keys)-1])
	}
	c.paths = c.paths[:1]
	t.Setenv("AWS_ACCESS_KEY_ID", "of-the-environment")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	assert.Equal(t, "of-the-environment", c.signs(t, "&machine_role=true"))
	assert.Equal(t, []string{"/bucket/", "/bucket/"}, c.paths, "configured credentials are used without requesting others")
}

// On a machine without a role requests fail, and none is sent unsigned.
func TestNoRole(t *testing.T) {
	fresh(t)
	nobody := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nobody.Close)
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", nobody.URL)
	c := newCloud(t)
	s, err := open(t, "s3://bucket?use_path_style=true&machine_role=true&endpoint="+c.URL)
	require.NoError(t, err)
	_, err = s.Keys(t.Context(), 1)
	require.ErrorContains(t, err, "404")
	assert.Empty(t, c.paths)
}
