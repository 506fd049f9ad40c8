// Package client is a small Go client of a Freshet server.
//
//	c, err := client.New("http://127.0.0.1:8080", client.WithAgent("u_1"))
//	…
//	page, err := c.Refresh(ctx, 20)
//
// There is a method for each route, in a file per subject; [Client.Do] makes any other call. A
// refusal by the server is an [*Error], which also matches one of the sentinels in errors.go.
// [ErrNotFound] after a retried deletion may mean that an earlier attempt succeeded.
//
// A page whose response was lost is lost to the reader, unless it is requested again with its
// request id. With [WithRetries], the attempts of one call do that. For longer outages, set
// [Ask].RequestID, and after a failure repeat that call before the next one: the server returns the
// same page for a minute after it created it, and for at least half a minute after it last returned
// it.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/freshet/freshet/feed/api"
)

// Time limits of one attempt. The context limits the whole call.
const (
	defaultTimeout = 15 * time.Second
	imagesTimeout  = 2 * time.Minute  // publishing a post with images
	longestTimeout = 10 * time.Minute // storing an upload, or ranking for many readers
)

// Client calls one server. It is safe for concurrent use; a process needs only one.
type Client struct {
	base    string
	header  http.Header
	http    *http.Client
	timeout time.Duration
	tries   int
	pause   time.Duration
	notify  func(cause error, wait time.Duration)
	changes *changes
}

// Option configures a [Client].
type Option func(*Client)

// WithAgent sets the calling agent in X-Agent-ID, for servers in header mode. If a gateway sets the
// header, do not use this option.
func WithAgent(id string) Option {
	return func(c *Client) { c.set("X-Agent-ID", id) }
}

// WithToken sends a Bearer token: an agent's, for servers in jwt mode, or the
// admin token.
func WithToken(token string) Option {
	return func(c *Client) {
		value := ""
		if token != "" {
			value = "Bearer " + token
		}
		c.set("Authorization", value)
	}
}

// WithAdminToken sends the admin token in addition to the agent's identity.
func WithAdminToken(token string) Option {
	return func(c *Client) { c.set("X-Admin-Token", token) }
}

// set sets a header, or removes it if the value is empty.
func (c *Client) set(name, value string) {
	c.header.Del(name)
	if value != "" {
		c.header.Set(name, value)
	}
}

// WithRetries makes up to tries attempts while the server is unreachable or busy, if repeating the
// call cannot have a double effect. The first wait is about pause, each further one about twice as
// long, at most 10 s, or longer if Retry-After asks for it; if that is more than a minute there is
// no further attempt. Without this option a call is made once.
func WithRetries(tries int, pause time.Duration) Option {
	return func(c *Client) { c.tries, c.pause = tries, pause }
}

// WithTimeout limits one attempt, up to the end of its response: 15 s without this option. Posts
// with images have 2 minutes, uploads and analyses 10. The context limits a call with all its
// attempts.
func WithTimeout(try time.Duration) Option {
	return func(c *Client) { c.timeout = try }
}

// WithRetryNotice sets a function that is called before each wait for another attempt.
func WithRetryNotice(notify func(cause error, wait time.Duration)) Option {
	return func(c *Client) { c.notify = notify }
}

// WithHTTPClient makes calls through h, for other certificates, proxies or instrumentation. Its
// redirect policy is not used: see [Client.Do].
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) { c.http = h }
}

// isHTTP reports whether a URL is that of an HTTP server.
func isHTTP(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// New returns a client for the server at a URL such as http://127.0.0.1:8080.
func New(server string, options ...Option) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || !isHTTP(u) {
		return nil, fmt.Errorf("the server must be a URL such as http://127.0.0.1:8080, not %q", server)
	}
	// Cloned, so that closing this client's idle connections does not affect others.
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("http.DefaultTransport is not an *http.Transport; use WithHTTPClient")
	}
	copied := transport.Clone()
	// With the default of two idle connections a busy backend would open and close one for almost
	// every call.
	copied.MaxIdleConnsPerHost = copied.MaxIdleConns
	c := &Client{
		base:    strings.TrimSuffix(server, "/"),
		header:  http.Header{"User-Agent": {"freshet"}, "Accept": {"application/json"}},
		http:    &http.Client{Transport: copied},
		timeout: defaultTimeout,
		tries:   1,
		changes: &changes{all: map[string][]*change{}},
	}
	for _, option := range options {
		option(c)
	}
	// On a redirect, the standard client sends headers that it does not recognize as credentials to
	// any host.
	once := *c.http
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &once
	return c, nil
}

// As returns a client that calls as another agent, over the same connections.
func (c *Client) As(agent string) *Client {
	other := *c
	other.header = c.header.Clone()
	other.set("X-Agent-ID", agent)
	return &other
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Ready calls GET /readyz, once, and returns the dependencies by name. It also returns them with
// the error of a server that is not ready ([ErrUnavailable]).
func (c *Client) Ready(ctx context.Context) (map[string]Dependency, error) {
	var data api.Readiness
	once := *c
	once.tries = 1
	res, err := once.Do(ctx, Request{Method: http.MethodGet, Path: "/readyz"})
	raw := res.Data
	var refused *Error
	if errors.As(err, &refused) {
		raw = refused.Data
	}
	if len(raw) > 0 {
		uerr := json.Unmarshal(raw, &data)
		if uerr != nil && err == nil {
			err = fmt.Errorf("decode the response to GET /readyz: %w", uerr)
		}
	}
	return data.Dependencies, err
}
