package esindex

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"
)

// Client sends requests to the nodes of one Elasticsearch, or OpenSearch. [Connect] creates one.
type Client interface {
	// Perform sends req, whose URL has a path and a query only, to a node. A node that is
	// unreachable, or answers 502, 503 or 504, is retried or replaced by another, immediately and
	// at most three times. The last answer is returned whatever its status; the caller closes its
	// body. An error means that there was no answer, or that the answer did not come from
	// either of the two.
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
	return &genuine{Client: transport}, err
}
