package certificates

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/freshet/freshet/internal/repeatable"
)

// Pair reads the certificate of a client and its key. If they cannot be used, the error says which file
// it is, what it has, and what to do.
func Pair(cert, key string) (tls.Certificate, error) {
	if err := errors.Join(repeatable.Check(cert), repeatable.Check(key)); err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	return pair, Explain(err, cert, key)
}

// Explain appends to the error of reading a certificate and its key which file cannot be used, and why.
func Explain(err error, cert, key string) error {
	if err == nil {
		return nil
	}
	for _, f := range []struct {
		path   string
		wanted string
		fault  func(path string, data []byte) string
	}{{cert, certificate, certFault}, {key, privateKey, keyFault}} {
		data, unread := os.ReadFile(f.path)
		if unread != nil {
			return err // it says so
		}
		fault := formatFault(data, f.wanted)
		if fault == "" {
			fault = f.fault(f.path, data)
		}
		if fault != "" {
			return fmt.Errorf("%w: %s %s", err, f.path, fault)
		}
	}
	if strings.Contains(err.Error(), "does not match") {
		return fmt.Errorf("%w: %s is not the key of %s", err, key, cert)
	}
	return err
}

// The types of blocks in PEM files; those of keys have something before it.
const (
	certificate = "CERTIFICATE"
	privateKey  = "PRIVATE KEY"
)

// byteOrderMark is what editors of Windows put at the beginning of a file.
const byteOrderMark = "\xef\xbb\xbf"

// formatFault says what is wrong with a file that has no PEM blocks, and "" if it has some.
func formatFault(data []byte, wanted string) string {
	first, _ := pem.Decode(data)
	if first != nil {
		return ""
	}
	_, noCertificate := x509.ParseCertificate(data)
	_, noKey := x509.ParsePKCS8PrivateKey(data)
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return "is empty"
	case bytes.HasPrefix(data, []byte(byteOrderMark)):
		return "begins with a byte order mark: save it without"
	case noCertificate == nil:
		return "is in DER format: convert it to PEM (openssl x509 -inform DER)"
	case noKey == nil:
		return "is in DER format: convert it to PEM (openssl pkey -inform DER)"
	}
	return "has no " + strings.ToLower(wanted) + " in PEM format: if it is PKCS#12 (.p12, .pfx), convert it (openssl pkcs12 -nodes)"
}

func certFault(_ string, data []byte) string {
	if block(data, certificate) == nil && block(data, privateKey) != nil {
		return "has a private key and no certificate: perhaps the two files are switched"
	}
	return ""
}

func keyFault(path string, data []byte) string {
	key := block(data, privateKey)
	switch {
	case key == nil && block(data, certificate) != nil:
		return "has a certificate and no private key: perhaps the two files are switched"
	case key != nil && (strings.HasPrefix(key.Type, "ENCRYPTED ") || strings.Contains(key.Headers["Proc-Type"], "ENCRYPTED")):
		return "is encrypted, and nobody can enter its passphrase here: decrypt it (openssl pkey -in " + path + "), and keep it readable for the server only"
	}
	return ""
}

// block returns the first block of a kind.
func block(data []byte, kind string) *pem.Block {
	for {
		var found *pem.Block
		found, data = pem.Decode(data)
		if found == nil || found.Type == kind || strings.HasSuffix(found.Type, " "+kind) {
			return found
		}
	}
}

// NoAuthority returns an error if a file has no certificate in PEM format.
func NoAuthority(path string) error {
	data, err := os.ReadFile(path)
	if err == nil && block(data, certificate) == nil {
		err = fmt.Errorf("%s contains no certificate in PEM format", path)
	}
	return err
}
