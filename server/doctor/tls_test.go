package doctor

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// TestDoctorTLSMismatch checks the advice where one side uses TLS and the other does not, and where the
// certificate is not trusted.
func TestDoctorTLSMismatch(t *testing.T) {
	t.Parallel()
	elastic := httptest.NewUnstartedServer(http.NotFoundHandler())
	elastic.Config.ErrorLog = log.New(io.Discard, "", 0)
	elastic.StartTLS()
	t.Cleanup(elastic.Close)
	secured, err := tls.Listen("tcp", "127.0.0.1:0", elastic.TLS)
	require.NoError(t, err)
	t.Cleanup(func() { _ = secured.Close() })
	go func() {
		for conn, err := secured.Accept(); err == nil; conn, err = secured.Accept() {
			go func(conn net.Conn) { _ = conn.(*tls.Conn).Handshake(); _ = conn.Close() }(conn)
		}
	}()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)

	cfg := servicesAt(t, secured.Addr().String(), "http://"+elastic.Listener.Addr().String())
	findings := Check(t.Context(), cfg, Options{})
	assert.Contains(t, about(t, findings, "redis").Fix, "begin the address with rediss://")
	assert.Contains(t, about(t, findings, "elasticsearch").Fix, "begin the address with https://")

	cfg.Elasticsearch.Addresses = []string{"https://" + plain.Listener.Addr().String()}
	cfg.Redis.URL = "rediss://" + oneServer(t)
	findings = Check(t.Context(), cfg, Options{})
	assert.Contains(t, about(t, findings, "redis").Fix, "begin the address with redis://")
	assert.Contains(t, about(t, findings, "elasticsearch").Fix, "begin the address with http://")

	cfg.Elasticsearch.Addresses = []string{elastic.URL}
	cfg.Redis.URL = "rediss://" + secured.Addr().String()
	findings = Check(t.Context(), cfg, Options{})
	assert.Contains(t, about(t, findings, "redis").Fix, "redis.ca_cert")
	assert.Contains(t, about(t, findings, "elasticsearch").Fix, "elasticsearch.ca_cert")

	cfg = embedded(t)
	cfg.Postgres.URL = testenv.Postgres(t)
	for _, f := range Check(t.Context(), cfg, Options{}) {
		assert.NotEqual(t, "postgres search_path", f.What, f.Detail)
	}
}
