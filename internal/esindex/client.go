package esindex

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"
)

// Client sends requests to the nodes of one Elasticsearch. [Connect] creates one.
type Client interface {
	// Perform sends req, whose URL has a path and a query only, to a node. A node that is
	// unreachable, or answers 502, 503 or 504, is retried or replaced by another, immediately and
	// at most three times. The last answer is returned whatever its status; the caller closes its
	// body. An error means that there was no answer, or that the answer did not come from
	// Elasticsearch.
	Perform(req *http.Request) (*http.Response, error)
}

// ClientConfig holds the addresses and credentials of an Elasticsearch.
type ClientConfig struct {
	Addresses []string          // URLs of nodes, required; a user and password in one are used for that node
	APIKey    string            // used instead of a user and password
	Transport http.RoundTripper // nil means the standard library's, with a separate pool
}

// Connect creates a client. It does not dial yet. Credentials in the first address are used for all
// nodes. Errors contain no address, since it may contain a password.
func Connect(cfg ClientConfig) (Client, error) {
	if len(cfg.Addresses) == 0 {
		return nil, errors.New("no Elasticsearch address is given")
	}
	nodes := make([]*url.URL, len(cfg.Addresses))
	for i, address := range cfg.Addresses {
		node, err := url.Parse(strings.TrimRight(address, "/"))
		if err != nil {
			return nil, fmt.Errorf("address %d of Elasticsearch is not a URL", i+1)
		}
		nodes[i] = node
	}
	options := []elastictransport.Option{elastictransport.WithURLs(nodes...), elastictransport.WithUserAgent("freshet")}
	if cfg.APIKey != "" {
		options = append(options, elastictransport.WithAPIKey(cfg.APIKey))
	} else if user := nodes[0].User; user != nil {
		password, _ := user.Password()
		options = append(options, elastictransport.WithBasicAuth(user.Username(), password))
	}
	if cfg.Transport != nil {
		options = append(options, elastictransport.WithTransport(cfg.Transport))
	}
	transport, err := elastictransport.NewClient(options...)
	return genuine{transport}, err
}

// fromElasticsearch reports whether an answer comes from Elasticsearch.
func fromElasticsearch(res *http.Response) bool {
	return res.Header.Get("X-Elastic-Product") == "Elasticsearch"
}

// genuine rejects successful answers of anything else, such as a proxy's login page, which would be
// read as a search without hits.
type genuine struct{ Client }

// Perform implements [Client].
func (g genuine) Perform(req *http.Request) (*http.Response, error) {
	res, err := g.Client.Perform(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 300 && !fromElasticsearch(res) {
		return nil, errors.Join(&OtherProductError{Status: res.StatusCode, Product: product(res.Body)}, res.Body.Close())
	}
	return res, nil
}

// OtherProductError is the error for a successful answer that does not come from Elasticsearch 8.
type OtherProductError struct {
	Status  int
	Product string // with its version, or "" if the answer does not say
}

// Error says what answers, if that is known.
func (e *OtherProductError) Error() string {
	is := ""
	if e.Product != "" {
		is = ", it is " + e.Product
	}
	return "the response does not come from Elasticsearch 8: it has no header X-Elastic-Product" + is
}

// mostRoot is more than what a node answers about itself.
const mostRoot = 16 << 10

// product returns the name and version of the search engine whose root answers with the body, or "".
func product(body io.Reader) string {
	var root struct {
		Tagline string `json:"tagline"`
		Version struct {
			Number       string `json:"number"`
			Distribution string `json:"distribution"`
		} `json:"version"`
	}
	if json.NewDecoder(io.LimitReader(body, mostRoot)).Decode(&root) != nil || root.Version.Number == "" {
		return ""
	}
	switch {
	case root.Version.Distribution == "opensearch":
		return "OpenSearch " + root.Version.Number
	case strings.Contains(root.Tagline, "OpenSearch"): // in its compatibility mode, with the number of an Elasticsearch
		return "OpenSearch"
	case root.Tagline == "You Know, for Search":
		return "Elasticsearch " + root.Version.Number
	}
	return ""
}
