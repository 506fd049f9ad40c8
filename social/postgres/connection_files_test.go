package postgres

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestConnectionFilesReloaded checks that each new connection reads the user, the password and
// the certificates from their files.
func TestConnectionFilesReloaded(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "root.pem")
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(root, certificate, 0o600))
	at := "127.0.0.1:5432/d?sslmode=verify-full&pool_max_conns=3&sslrootcert=" + root
	current := "postgres://one:first@" + at
	cfg := Config{URL: current, Current: func() string { return current }}
	pool, err := cfg.pool()
	require.NoError(t, err)
	c := pool.ConnConfig.Copy()
	current = "postgres://two:second@" + at
	require.NoError(t, os.WriteFile(root, append(certificate, certificate...), 0o600))
	before := c.TLSConfig
	require.NoError(t, pool.BeforeConnect(t.Context(), c))
	assert.Equal(t, "two second", c.User+" "+c.Password)
	assert.NotSame(t, before, c.TLSConfig, "the certificates were read again")

	for name, change := range map[string]func(){
		"a file that is half written": func() { require.NoError(t, os.WriteFile(root, nil, 0o600)) },
		"no file":                     func() { require.NoError(t, os.Remove(root)) },
	} {
		change()
		next := pool.ConnConfig.Copy() // each connection begins with what was read at the start
		require.NoError(t, pool.BeforeConnect(t.Context(), next), name)
		assert.Equal(t, "two second", next.User+" "+next.Password, name)
		assert.Same(t, c.TLSConfig, next.TLSConfig, name)
	}
	require.ErrorContains(t, Config{URL: "postgres://u:secret@h/d?sslrootcert=/none"}.Check(), "/none")
	require.NotContains(t, Config{URL: "postgres://u:secret@h/d?sslrootcert=/none"}.Check().Error(), "secret")
}

// TestConnectionFilesExplained checks that the error names the file that cannot be used, and why.
func TestConnectionFilesExplained(t *testing.T) {
	t.Parallel()
	write := func(name, kind string) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte("x")}), 0o600))
		return path
	}
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	cert := filepath.Join(t.TempDir(), "cert.pem")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	key := write("key.pem", "ENCRYPTED PRIVATE KEY")
	for parameters, says := range map[string]string{
		"sslcert=" + cert + "&sslkey=" + key: key + " is encrypted",
		"sslcert=" + key + "&sslkey=" + cert: key + " has a private key and no certificate",
		"sslrootcert=" + key:                 key + " contains no certificate in PEM format",
	} {
		err := Config{URL: "postgres://u:secret@h/d?sslmode=verify-full&" + parameters}.Check()
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), "secret")
	}
}
