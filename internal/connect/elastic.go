package connect

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/breaker"
	"github.com/freshet/freshet/internal/esindex"
)

// elasticShare is the share of a request's time that one to Elasticsearch may take.
const elasticShare = 0.6

// Elastic makes the Elasticsearch client. It does not dial yet.
func Elastic(cfg configs.Config, log *slog.Logger) (esindex.Client, error) {
	es := cfg.Elasticsearch
	transport, err := elasticTransport(es.CACert)
	if err != nil {
		return nil, err
	}
	client, err := esindex.Connect(esindex.ClientConfig{
		Addresses: es.URLs(),
		APIKey:    es.APIKey,
		Transport: breaker.NewElastic(transport, time.Duration(elasticShare*float64(cfg.Server.RequestTimeout)), log),
	})
	if err != nil {
		return nil, fmt.Errorf("elasticsearch: %w", err)
	}
	return client, nil
}

// elasticTransport trusts the authority in the file besides the system's, and
// keeps enough connections open for concurrent recalls; the standard library's
// default of two would close and dial all the time.
func elasticTransport(caCert string) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 64
	if caCert == "" {
		return t, nil
	}
	pem, err := os.ReadFile(caCert)
	if err != nil {
		return nil, fmt.Errorf("elasticsearch.ca_cert: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("elasticsearch.ca_cert: %s holds no certificate in PEM form", caCert)
	}
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	return t, nil
}
