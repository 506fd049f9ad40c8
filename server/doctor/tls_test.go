package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// TestDoctorTLSMismatch checks the advice where one side uses TLS and the other does not, and where the
// certificate of one is not trusted by the other, or missing.
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

	// A certificate that names the host only as its Common Name.
	named := testenv.Certificate(t, func(c *x509.Certificate) { c.DNSNames = nil })
	common := httptest.NewUnstartedServer(http.NotFoundHandler())
	common.Config.ErrorLog = log.New(io.Discard, "", 0)
	common.TLS = &tls.Config{Certificates: []tls.Certificate{named}}
	common.StartTLS()
	t.Cleanup(common.Close)
	_, port, err := net.SplitHostPort(common.Listener.Addr().String())
	require.NoError(t, err)
	cfg.Redis.CACert = filepath.Join(t.TempDir(), "named.pem")
	cfg.Elasticsearch.CACert = cfg.Redis.CACert
	require.NoError(t, os.WriteFile(cfg.Redis.CACert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: named.Leaf.Raw}), 0o600))
	cfg.Elasticsearch.Addresses = []string{"https://localhost:" + port}
	cfg.Redis.URL = "rediss://localhost:" + port
	findings = Check(t.Context(), cfg, Options{})
	assert.Contains(t, about(t, findings, "redis").Fix, "subject alternative name")
	assert.Contains(t, about(t, findings, "elasticsearch").Fix, "subject alternative name")

	// Servers that require client certificates end the handshake; a proxy such as nginx answers 400.
	strict := httptest.NewUnstartedServer(http.NotFoundHandler())
	strict.Config.ErrorLog = log.New(io.Discard, "", 0)
	strict.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	strict.StartTLS()
	t.Cleanup(strict.Close)
	pool := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(pool, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: strict.Certificate().Raw}), 0o600))
	cfg.Redis.CACert, cfg.Elasticsearch.CACert = pool, pool
	cfg.Elasticsearch.Addresses = []string{strict.URL}
	cfg.Redis.URL = "rediss://" + strict.Listener.Addr().String()
	findings = Check(t.Context(), cfg, Options{})
	assert.Contains(t, about(t, findings, "redis").Fix, "redis.client_cert")
	assert.Contains(t, about(t, findings, "elasticsearch").Fix, "elasticsearch.client_cert")

	proxy := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	t.Cleanup(proxy.Close)
	cfg.Elasticsearch.Addresses = []string{proxy.URL}
	fix := about(t, Check(t.Context(), cfg, Options{}), "elasticsearch").Fix
	assert.Contains(t, fix, "elasticsearch.client_cert")
	assert.NotContains(t, fix, "begin the address")

	cfg = embedded(t)
	cfg.Postgres.URL = testenv.Postgres(t)
	for _, f := range Check(t.Context(), cfg, Options{}) {
		assert.NotEqual(t, "postgres search_path", f.What, f.Detail)
	}
}
