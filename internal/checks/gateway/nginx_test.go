// Package gateway runs nginx with the configuration of docs/production.md in front of a real
// server, and makes calls that try to impersonate others.
package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// site is the gateway's external address. It has a non-default port, to detect a Host that loses
// it.
const site = "https://feed.example.com:8443"

// snippets returns the nginx configuration of the document: the site, and the file that identifies
// the caller in the given mode.
func snippets(t *testing.T, mode string) (conf, caller string) {
	t.Helper()
	doc, err := os.ReadFile("../../../docs/production.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)```nginx\n(.*?)```").FindAllSubmatch(doc, -1)
	require.Len(t, found, 3, "the site, and a file for each auth.mode")
	conf, jwt, header := string(found[0][1]), string(found[1][1]), string(found[2][1])
	require.Contains(t, jwt, "$reader_token")
	require.Contains(t, header, "auth_request")
	if mode == "jwt" {
		return conf, jwt
	}
	return conf, header
}

// replace replaces the document's addresses with those of this machine.
func replace(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, text, pairs[i])
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// nginx runs the document's configuration and returns a client that reaches it as [site].
func nginx(t *testing.T, mode, server, sessions string) *http.Client {
	t.Helper()
	program := installed(t)
	dir, err := os.MkdirTemp("", "gateway") // the path of a socket must be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	in := func(name string) string { return filepath.Join(dir, name) }
	pool := certificate(t, in("cert.pem"), in("key.pem"))

	conf, caller := snippets(t, mode)
	conf = replace(t, conf,
		"server 10.0.0.11:8080", "server "+server,
		"server 10.0.0.12:8080", "server "+server,
		"listen 443 ssl", "listen unix:"+in("socket")+" ssl",
		"/etc/nginx/feed.example.com.pem", in("cert.pem"),
		"/etc/nginx/feed.example.com.key", in("key.pem"),
		"/etc/nginx/freshet-caller.conf", in("caller.conf"))
	if mode == "header" {
		caller = replace(t, caller, "127.0.0.1:9000", sessions)
	}
	var temp strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temp, "%s_temp_path %s;\n", kind, in(kind))
	}
	// A single process needs no privileges to drop, and leaves no other process behind.
	all := "daemon off; master_process off; error_log stderr; pid " + in("pid") + ";\nevents {}\nhttp {\naccess_log off;\n" + temp.String() + conf + "}\n"
	require.NoError(t, os.WriteFile(in("nginx.conf"), []byte(all), 0o600))
	require.NoError(t, os.WriteFile(in("caller.conf"), []byte(caller), 0o600))
	start(t, program, in("nginx.conf"), in("socket"))

	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", in("socket"))
		},
		TLSClientConfig:    &tls.Config{RootCAs: pool, ServerName: "example.com"},
		DisableCompression: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// installed returns the path of nginx, and skips the test if it is not installed.
func installed(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		const msg = "install nginx (Debian: apt-get install nginx-light) to run this test"
		if os.Getenv("FRESHET_TEST_REQUIRE_SERVICES") == "1" {
			t.Fatal(msg)
		}
		t.Skip(msg)
	}
	return program
}

// certificate writes the certificate of httptest, which is for example.com.
func certificate(t *testing.T, cert, key string) *x509.CertPool {
	t.Helper()
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	own := srv.TLS.Certificates[0]
	der, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	return pool
}

// start starts nginx and waits until it accepts connections.
func start(t *testing.T, program, conf, socket string) *exec.Cmd {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(program, "-e", "stderr", "-c", conf)
	cmd.Stderr = &said
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		if t.Failed() {
			t.Logf("nginx said:\n%s", said.Bytes())
		}
	})
	testenv.WaitFor(t, func() bool {
		select {
		case <-ended:
			t.Fatalf("nginx ended:\n%s", said.Bytes())
		default:
		}
		conn, err := net.Dial("unix", socket)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, "nginx to take connections")
	return cmd
}
