package s3

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/media"
)

// TestRefusalsSayWhatToDo answers each call with each refusal.
func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for code, advice := range remedies {
		store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>what the store says</Message></Error>", code)
		}))
		s, err := open(t, "s3://bucket?region=r&use_path_style=true&anonymous=true&endpoint="+store.URL)
		require.NoError(t, err)
		_, listed := s.Keys(t.Context(), 1)
		_, opened := s.Open(t.Context(), "1")
		for call, err := range map[string]error{
			"put":    s.Put(t.Context(), "1", media.File{Type: "text/plain", Data: []byte("x")}),
			"open":   opened,
			"delete": s.Delete(t.Context(), "1"),
			"list":   listed,
			"probe":  media.Probe(t.Context(), s, time.Unix(1_800_000_000, 0)),
		} {
			var refused *media.Refusal
			require.ErrorAs(t, err, &refused, "%s: %s", code, call)
			assert.Equal(t, advice, refused.Advice)
			assert.Contains(t, err.Error(), advice)
			require.NotErrorIs(t, err, feed.ErrNotFound)
		}
		store.Close()
	}
	require.NoError(t, explained(nil))
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	s, err := open(t, "s3://bucket?region=r&use_path_style=true&anonymous=true&endpoint="+secure.URL)
	require.NoError(t, err)
	err = media.Probe(t.Context(), s, time.Unix(1_800_000_000, 0))
	var refused *media.Refusal
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "name the authority that signed the server's certificate in a file (PEM) that the variable SSL_CERT_FILE names, or among the authorities of the machine", refused.Advice)
	other := minio.ErrorResponse{Code: "InternalError"}
	assert.Equal(t, error(other), explained(other))
}

// TestPathStyleAdvised checks that stores whose host name has no name for each bucket, as MinIO and Garage have
// it by default, are recognized: by a name that does not exist, a certificate of another name, and by what
// they answer to a path without the bucket.
func TestPathStyleAdvised(t *testing.T) {
	t.Parallel()
	const pathStyle = "add &use_path_style=true"
	s, err := open(t, "s3://bucket?anonymous=true&endpoint=http://garage.invalid:3900")
	require.NoError(t, err)
	assert.Equal(t, "bucket.garage.invalid", s.host)
	unknown := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "bucket.garage.invalid", IsNotFound: true}}
	for _, err := range []error{
		&url.Error{Op: "Put", URL: "http://bucket.garage.invalid:3900", Err: unknown},
		&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "bucket.garage.invalid"}},
		minio.ErrorResponse{Code: "NoSuchBucket"},
		minio.ErrorResponse{Code: "InvalidBucketName"},
	} {
		assert.ErrorContains(t, s.explained(err), pathStyle)
		require.ErrorIs(t, s.explained(err), err)
	}
	require.NoError(t, s.explained(nil))
	elsewhere := &net.DNSError{Err: "no such host", Name: "proxy.invalid"}
	assert.NotContains(t, s.explained(elsewhere).Error(), pathStyle)
	for _, address := range []string{"s3://bucket?anonymous=true&use_path_style=true&endpoint=http://garage.invalid:3900", "s3://bucket?anonymous=true&region=r"} {
		s, err := open(t, address)
		require.NoError(t, err)
		assert.Empty(t, s.host)
		assert.NotContains(t, s.explained(minio.ErrorResponse{Code: "NoSuchBucket"}).Error(), pathStyle)
	}
}
