package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// TestPair has files that people have in place of a certificate and a key in PEM format.
func TestPair(t *testing.T) {
	t.Parallel()
	made := testenv.Certificate(t, nil)
	der := made.Leaf.Raw
	keyDER, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	require.NoError(t, err)
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	otherDER, err := x509.MarshalPKCS8PrivateKey(other)
	require.NoError(t, err)
	block := func(kind string, headers map[string]string, data []byte) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: kind, Headers: headers, Bytes: data})
	}
	cert, key := block("CERTIFICATE", nil, der), block("PRIVATE KEY", nil, keyDER)
	for name, test := range map[string]struct {
		cert, key []byte
		says      string
	}{
		"good":                   {cert, key, ""},
		"both in one file":       {append(append([]byte{}, cert...), key...), append(append([]byte{}, cert...), key...), ""},
		"encrypted":              {cert, block("ENCRYPTED PRIVATE KEY", nil, []byte("x")), "key.pem is encrypted, "},
		"encrypted, traditional": {cert, block("EC PRIVATE KEY", map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC,00"}, []byte("x")), "key.pem is encrypted, "},
		"switched":               {key, cert, "cert.pem has a private key and no certificate: perhaps the two files are switched"},
		"certificate twice":      {cert, cert, "key.pem has a certificate and no private key: perhaps the two files are switched"},
		"another key":            {cert, block("PRIVATE KEY", nil, otherDER), "key.pem is not the key of "},
		"certificate in DER":     {der, key, "cert.pem is in DER format: convert it to PEM (openssl x509"},
		"key in DER":             {cert, keyDER, "key.pem is in DER format: convert it to PEM (openssl pkey"},
		"PKCS#12":                {[]byte("0\x82\x01\x00\x02\x01\x03"), key, "cert.pem has no certificate in PEM format: if it is PKCS#12"},
		"byte order mark":        {append([]byte("\xef\xbb\xbf"), cert...), key, "cert.pem begins with a byte order mark"},
		"empty":                  {cert, []byte("\n"), "key.pem is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c, k := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
			require.NoError(t, os.WriteFile(c, test.cert, 0o600))
			require.NoError(t, os.WriteFile(k, test.key, 0o600))
			_, err := Pair(c, k)
			if test.says == "" {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, filepath.Join(dir, test.says))
		})
	}
	_, err = Pair(filepath.Join(t.TempDir(), "none"), "")
	require.ErrorIs(t, err, os.ErrNotExist)
}
