package connect

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/server/breaker"
)

// elasticShare is the share of a request's time that a call to Elasticsearch may take.
const elasticShare = 0.6

// elasticDial is the timeout for connecting to a node.
const elasticDial = 30 * time.Second

// Elastic creates the Elasticsearch client. It does not dial yet.
func Elastic(cfg configs.Config, log *slog.Logger) (esindex.Client, error) {
	transport, err := elasticTransport(cfg)
	if err != nil {
		return nil, err
	}
	return elasticOver(cfg, transport, log)
}

// elasticOver creates the client over a transport.
func elasticOver(cfg configs.Config, transport http.RoundTripper, log *slog.Logger) (esindex.Client, error) {
	es := cfg.Elasticsearch
	client, err := esindex.Connect(esindex.ClientConfig{
		Addresses: es.URLs(),
		APIKey:    es.APIKey,
		Transport: breaker.NewElastic(transport, time.Duration(elasticShare*float64(cfg.Server.RequestTimeout)), log),
	})
	if err != nil {
		return nil, fmt.Errorf("elasticsearch: %w", err)
	}
	if cfg.FromFiles() {
		client = renewed{client, cfg.Fresh()}
	}
	return client, nil
}

// elasticTransport keeps enough connections open for concurrent recalls; with the standard
// library's default of two, connections would be closed and dialled all the time.
func elasticTransport(cfg configs.Config) (*generations, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 64
	s, err := elasticSecured(cfg)
	if err != nil {
		return nil, err
	}
	t.DialTLSContext = s.dialer(elasticDial)
	return newGenerations(t), nil
}

// renewed sends the credentials that their files currently contain.
type renewed struct {
	esindex.Client
	fresh func() configs.Config
}

// Perform implements [esindex.Client].
func (r renewed) Perform(req *http.Request) (*http.Response, error) {
	header := authorization(r.fresh().Elasticsearch)
	if header != "" {
		req.Header.Set("Authorization", header)
	}
	return r.Client.Perform(req)
}

// authorization returns the Authorization header, or "" without credentials.
func authorization(es configs.Elasticsearch) string {
	if es.APIKey != "" {
		return "APIKey " + es.APIKey
	}
	u, err := url.Parse(es.URLs()[0])
	if err != nil || u.User == nil {
		return ""
	}
	password, _ := u.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
}
