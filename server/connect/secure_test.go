package connect

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
)

type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return authority{t, cert, key}
}

// sign returns a certificate for this machine's address, and its key, in PEM form.
func (a authority) sign(name string) (cert, key []byte) {
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}, a.cert, &own.PublicKey, a.key)
	require.NoError(a.t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(own)
	require.NoError(a.t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}

// serverOf returns a server configuration that requires client certificates signed by the
// authority.
func (a authority) serverOf() *tls.Config {
	cert, key := a.sign("server")
	pair, err := tls.X509KeyPair(cert, key)
	require.NoError(a.t, err)
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MinVersion: tls.VersionTLS12}
}

type files struct {
	t             *testing.T
	ca, cert, key string
}

func newFiles(t *testing.T) files {
	in := func(name string) string { return filepath.Join(t.TempDir(), name) }
	return files{t, in("ca.pem"), in("cert.pem"), in("key.pem")}
}

// write writes the files for a client with a name.
func (f files) write(a authority, name string) {
	cert, key := a.sign(name)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	for path, content := range map[string][]byte{f.ca: ca, f.cert: cert, f.key: key} {
		require.NoError(f.t, os.WriteFile(path, content, 0o600))
	}
}

// TestRedisClientCertificate checks that each new connection uses the current certificate file,
// also to Sentinels and nodes of a cluster, and that only the configured authority is trusted.
func TestRedisClientCertificate(t *testing.T) {
	t.Parallel()
	first, second := newAuthority(t, "first"), newAuthority(t, "second")
	serves := &atomic.Pointer[tls.Config]{}
	serves.Store(first.serverOf())
	shown := make(chan string, 10)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return serves.Load(), nil }})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			secure := conn.(*tls.Conn)
			if secure.Handshake() == nil {
				shown <- secure.ConnectionState().PeerCertificates[0].Subject.CommonName
			}
			_ = conn.Close()
		}
	}()
	own := newFiles(t)
	own.write(first, "one")
	cfg := configs.Default()
	cfg.Redis.URL = "rediss://" + l.Addr().String()
	cfg.Redis.CACert, cfg.Redis.ClientCert, cfg.Redis.ClientKey = own.ca, own.cert, own.key
	require.NoError(t, cfg.Validate())
	o, err := redisOptions(cfg)
	require.NoError(t, err)
	for name, dial := range map[string]func() (net.Conn, error){
		"a server":  func() (net.Conn, error) { return o.Simple().Dialer(t.Context(), "tcp", l.Addr().String()) },
		"a cluster": func() (net.Conn, error) { return o.Cluster().Dialer(t.Context(), "tcp", l.Addr().String()) },
		"Sentinels": func() (net.Conn, error) { return o.Failover().Dialer(t.Context(), "tcp", l.Addr().String()) },
	} {
		conn, err := dial()
		require.NoError(t, err, name)
		assert.Equal(t, "one", <-shown, name)
		_ = conn.Close()
	}

	dial := func() error {
		conn, err := o.Dialer(t.Context(), "tcp", l.Addr().String())
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	serves.Store(second.serverOf())
	require.ErrorContains(t, dial(), "unknown authority")
	own.write(second, "two")
	require.NoError(t, dial(), "all three files were renewed")
	assert.Equal(t, "two", <-shown)
	require.NoError(t, os.WriteFile(own.key, []byte("half written"), 0o600))
	require.NoError(t, dial())
	assert.Equal(t, "two", <-shown, "what the files said last holds")
}

// TestElasticsearchClientCertificate checks the same for Elasticsearch.
func TestElasticsearchClientCertificate(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "the authority")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	server.TLS = a.serverOf()
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	own := newFiles(t)
	own.write(a, "one")
	cfg := configs.Default()
	cfg.Elasticsearch.Addresses, cfg.Elasticsearch.CACert = []string{server.URL}, own.ca
	ask := func(client esindex.Client) (name string, err error) {
		err = esindex.Do(t.Context(), client, http.MethodGet, "/", "", nil, func(body []byte) error { name = string(body); return nil })
		return name, err
	}
	without, err := Elastic(cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	_, err = ask(without)
	require.Error(t, err, "it has no certificate to show")

	cfg.Elasticsearch.ClientCert, cfg.Elasticsearch.ClientKey = own.cert, own.key
	require.NoError(t, cfg.Validate())
	client, err := Elastic(cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	for _, name := range []string{"one", "two"} {
		own.write(a, name)
		got, err := ask(client)
		require.NoError(t, err)
		assert.Equal(t, name, got)
	}
}

func TestCertificateFilesInvalid(t *testing.T) {
	t.Parallel()
	own, none := newFiles(t), filepath.Join(t.TempDir(), "none")
	own.write(newAuthority(t, "a"), "one")
	other := newFiles(t)
	other.write(newAuthority(t, "b"), "other")
	encrypted := filepath.Join(t.TempDir(), "encrypted.pem")
	require.NoError(t, os.WriteFile(encrypted, pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")}), 0o600))
	for _, section := range []string{"redis", "elasticsearch"} {
		for says, f := range map[string]files{
			".ca_cert: open ":                        {ca: none},
			".ca_cert: " + own.key + " contains no":  {ca: own.key},
			".client_key: open ":                     {cert: none, key: none},
			".client_key: tls: private key does not": {cert: own.cert, key: other.key},
			encrypted + " is encrypted":              {cert: own.cert, key: encrypted},
			own.key + " has a private key and no ":   {cert: own.key, key: own.cert},
		} {
			cfg := configs.Default()
			if section == "redis" {
				cfg.Redis.CACert, cfg.Redis.ClientCert, cfg.Redis.ClientKey = f.ca, f.cert, f.key
			} else {
				cfg.Elasticsearch.CACert, cfg.Elasticsearch.ClientCert, cfg.Elasticsearch.ClientKey = f.ca, f.cert, f.key
			}
			assert.ErrorContains(t, CheckFiles(cfg), section+".", says)
			assert.ErrorContains(t, CheckFiles(cfg), says)
		}
	}
	require.NoError(t, CheckFiles(configs.Default()))
}

// TestPasswordsReloaded checks that password files are read again, for each new connection to
// Redis and each request to Elasticsearch.
func TestPasswordsReloaded(t *testing.T) {
	t.Parallel()
	password := filepath.Join(t.TempDir(), "password")
	write := func(text string) { require.NoError(t, os.WriteFile(password, []byte(text+"\n"), 0o600)) }
	write("first")
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, word, _ := r.BasicAuth()
		asked <- user + ":" + word
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(server.Close)
	cfg, err := configs.Load(configs.Options{Environ: []string{
		"FRESHET_REDIS_URL=redis://me@127.0.0.1:1", "FRESHET_REDIS_PASSWORD_FILE=" + password,
		"FRESHET_ELASTICSEARCH_ADDRESSES=" + strings.Replace(server.URL, "://", "://me@", 1), "FRESHET_ELASTICSEARCH_PASSWORD_FILE=" + password,
	}})
	require.NoError(t, err)
	o, err := redisOptions(cfg)
	require.NoError(t, err)
	client, err := Elastic(cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	for _, word := range []string{"first", "second"} {
		write(word)
		require.Eventually(t, func() bool { // within a second
			user, got := o.CredentialsProvider()
			return user == "me" && got == word
		}, 10*time.Second, 50*time.Millisecond)
		require.Eventually(t, func() bool {
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodGet, "/", "", nil, nil))
			return <-asked == "me:"+word
		}, 10*time.Second, 50*time.Millisecond)
	}
}
