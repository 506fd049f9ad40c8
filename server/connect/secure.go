package connect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/certificates"
	"github.com/freshet/freshet/internal/repeatable"
)

// secured makes TLS connections with the certificate files of a section of the settings. The files
// are read for every connection, so that a certificate can be renewed at any time.
type secured struct {
	section       string // of the settings, such as redis
	ca, cert, key string // paths; "" means the system's authorities and no client certificate
	last          atomic.Pointer[tls.Config]
}

// redisSecured and elasticSecured return the TLS settings of a service. Errors name the setting.
func redisSecured(cfg configs.Config) (*secured, error) {
	return newSecured("redis", cfg.Redis.CACert, cfg.Redis.ClientCert, cfg.Redis.ClientKey)
}

func elasticSecured(cfg configs.Config) (*secured, error) {
	es := cfg.Elasticsearch
	return newSecured("elasticsearch", es.CACert, es.ClientCert, es.ClientKey)
}

func newSecured(section, ca, cert, key string) (*secured, error) {
	s := &secured{section: section, ca: ca, cert: cert, key: key}
	config, err := s.read()
	if err != nil {
		return nil, err
	}
	s.last.Store(config)
	return s, nil
}

func (s *secured) read() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.ca != "" {
		pem, err := repeatable.ReadFile(s.ca)
		if err != nil {
			return nil, fmt.Errorf("%s.ca_cert: %w", s.section, err)
		}
		if config.RootCAs, err = x509.SystemCertPool(); err != nil {
			config.RootCAs = x509.NewCertPool()
		}
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s.ca_cert: %s contains no certificate in PEM format", s.section, s.ca)
		}
	}
	if s.cert != "" {
		pair, err := certificates.Pair(s.cert, s.key)
		if err != nil {
			return nil, fmt.Errorf("%s.client_cert, %s.client_key: %w", s.section, s.section, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// config returns the configuration read from the files, or the last valid one if they cannot be
// read: a file may be half written.
func (s *secured) config() *tls.Config {
	config, err := s.read()
	if err != nil {
		return s.last.Load()
	}
	s.last.Store(config)
	return config
}

// dialer returns a function that dials and completes the TLS handshake within a timeout.
func (s *secured) dialer(timeout time.Duration) func(ctx context.Context, network, addr string) (net.Conn, error) {
	plain := plainDialer(timeout)
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		return (&tls.Dialer{NetDialer: plain, Config: s.config()}).DialContext(ctx, network, addr)
	}
}

// fallback is the usual time after which a dialer also tries the addresses of the other family, IPv4 or IPv6.
const fallback = 300 * time.Millisecond

// plainDialer returns a dialer that probes idle connections every 15 seconds. It tries the addresses of the
// other family early enough within the timeout: those of one may lead nowhere.
func plainDialer(timeout time.Duration) *net.Dialer {
	return &net.Dialer{Timeout: timeout, FallbackDelay: min(fallback, timeout/4)}
}

// CheckFiles reads the certificate files of a configuration. The error names every setting whose
// file cannot be used.
func CheckFiles(cfg configs.Config) error {
	_, redis := redisSecured(cfg)
	_, elastic := elasticSecured(cfg)
	return errors.Join(redis, elastic)
}
