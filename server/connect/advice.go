package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/freshet/freshet/internal/certificates"
	"github.com/freshet/freshet/internal/esindex"
)

// Schemes are the beginnings of a service's URL without and with TLS, the prefix of its settings
// ("redis"), and whether the connection uses TLS.
type Schemes struct {
	Plain, TLS, Settings string
	Encrypted            bool
}

// alert is how the text of an error shows the first bytes of a TLS server's answer to a client
// without TLS.
const alert = `\x15\x03`

// TLSAdvice returns what to do about an error of a connection if only one side uses TLS, or if one
// side does not accept the certificate of the other, and "" otherwise.
func TLSAdvice(err error, of Schemes) string {
	if err == nil {
		return ""
	}
	if fault, ok := certificates.Check(err, of.Settings+".ca_cert"); ok {
		return fault.Advice
	}
	var (
		noTLS   tls.RecordHeaderError
		refused *esindex.Error
	)
	text := err.Error()
	badRequest := errors.As(err, &refused) && refused.Foreign && refused.Status == http.StatusBadRequest
	switch {
	case errors.As(err, &noTLS), strings.Contains(text, "HTTP response to HTTPS client"):
		return "the server does not use TLS on this port: begin the address with " + of.Plain + ", or name its port with TLS"
	case strings.Contains(text, "remote error: tls: "), of.Encrypted && badRequest:
		return "if the server requires client certificates, name one that it trusts in " + of.Settings + ".client_cert and " + of.Settings + ".client_key"
	case of.Encrypted: // the rest is of connections without TLS
	case badRequest, strings.Contains(text, alert), strings.Contains(text, "\x15\x03"):
		return "the server uses TLS on this port: begin the address with " + of.TLS
	case errors.Is(err, io.EOF), strings.HasSuffix(text, "EOF"), strings.Contains(text, "connection reset"):
		return "the server ends the connection: if it uses TLS on this port, begin the address with " + of.TLS
	}
	return ""
}

// plainWait is how long a server may take to answer without TLS.
const plainWait = time.Second

// AnswersPlain reports whether a Redis answers without TLS. It waits for the rest of the line when it
// gets the beginning of TLS, so a client with TLS learns nothing before its timeout.
func AnswersPlain(ctx context.Context, addr string) bool {
	conn, err := (&net.Dialer{Timeout: plainWait}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	first := make([]byte, 1)
	if err = conn.SetDeadline(time.Now().Add(plainWait)); err == nil {
		_, err = io.WriteString(conn, "PING\r\n")
	}
	if err == nil {
		_, err = conn.Read(first)
	}
	return err == nil && (first[0] == '+' || first[0] == '-')
}
