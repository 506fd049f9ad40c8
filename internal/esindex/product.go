package esindex

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// productHeader names the product in each answer of Elasticsearch. [genuine] adds it to the answers of
// OpenSearch.
const productHeader = "X-Elastic-Product"

// fromElasticsearch reports whether an answer comes from Elasticsearch or OpenSearch.
func fromElasticsearch(res *http.Response) bool {
	product := res.Header.Get(productHeader)
	return product == "Elasticsearch" || product == openSearch
}

const openSearch = "OpenSearch"

// rootTrusted is how long answers without the name of a product are taken for those of OpenSearch after
// its root has named it: OpenSearch 2 names itself nowhere else.
const rootTrusted = 5 * time.Second

// genuine rejects successful answers of anything but Elasticsearch and OpenSearch, such as a proxy's login
// page, which would be read as a search without hits.
type genuine struct {
	Client

	mu     sync.Mutex
	named  time.Time // when the root has last said that this is OpenSearch; zero if the last one did not
	asking bool      // the root is being asked
}

// Perform implements [Client].
func (g *genuine) Perform(req *http.Request) (*http.Response, error) {
	res, err := g.Client.Perform(req)
	if err != nil || fromElasticsearch(res) {
		return res, err
	}
	is := strings.HasPrefix(res.Header.Get("X-OpenSearch-Version"), openSearch+"/") // OpenSearch 3
	if !is && res.StatusCode < http.StatusMultipleChoices {
		if err := g.verify(req.Context(), res); err != nil {
			return nil, errors.Join(err, res.Body.Close())
		}
		is = true
	}
	if is || g.trusts(rootTrusted) {
		res.Header.Set(productHeader, openSearch)
	}
	return res, nil
}

// trusts reports whether the root has named OpenSearch within a time.
func (g *genuine) trusts(within time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Since(g.named) < within
}

// verify checks that an answer without the name of a product is one of OpenSearch: it has the form of
// one, and the root says so.
func (g *genuine) verify(ctx context.Context, res *http.Response) error {
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		return &OtherProductError{Status: res.StatusCode, Product: aboutOf(res.Body).String()}
	}
	if g.trusts(rootTrusted/2) || !g.begin() && g.trusts(rootTrusted) {
		return nil
	}
	about, err := CheckProduct(ctx, g.Client)
	if err == nil && !about.usable() {
		err = &OtherProductError{Status: res.StatusCode, Product: about.String()}
	}
	g.end(err == nil)
	return err
}

// begin reports whether the caller should ask the root, because nobody else does.
func (g *genuine) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	begun := !g.asking
	g.asking = true
	return begun
}

// end records the answer of the root.
func (g *genuine) end(is bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asking = false
	g.named = time.Time{}
	if is {
		g.named = time.Now()
	}
}

// OtherProductError is the error for a successful answer that comes neither from Elasticsearch 8 nor
// from OpenSearch.
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
	return "the response does not come from Elasticsearch 8 or OpenSearch 2: it has no header " + productHeader + is
}

// About has the product and the version that a node names.
type About struct {
	Product string // Elasticsearch, OpenSearch, or "" for something else
	Version string // "" if it does not say
}

// String returns the product with its version, or "".
func (a About) String() string { return strings.TrimSpace(a.Product + " " + a.Version) }

// Tested reports whether Freshet is tested with the product in this version.
func (a About) Tested() bool {
	return a.Product != openSearch && strings.HasPrefix(a.Version, "8.") || a.Product == openSearch && strings.HasPrefix(a.Version, "2.")
}

// usable reports whether this is an OpenSearch that is new enough.
func (a About) usable() bool {
	major, _, _ := strings.Cut(a.Version, ".")
	n, err := strconv.Atoi(major)
	return a.Product == openSearch && err == nil && n >= 2
}

// mostRoot is more than what a node answers about itself.
const mostRoot = 16 << 10

// aboutOf reads the answer of a root.
func aboutOf(body io.Reader) About {
	var root struct {
		Tagline string `json:"tagline"`
		Version struct {
			Number       string `json:"number"`
			Distribution string `json:"distribution"`
		} `json:"version"`
	}
	if json.NewDecoder(io.LimitReader(body, mostRoot)).Decode(&root) != nil || root.Version.Number == "" {
		return About{}
	}
	switch {
	case root.Version.Distribution == "opensearch":
		return About{openSearch, root.Version.Number}
	case strings.Contains(root.Tagline, "OpenSearch"): // in its compatibility mode, with the number of an Elasticsearch
		return About{openSearch, ""}
	case root.Tagline == "You Know, for Search":
		return About{"Elasticsearch", root.Version.Number}
	}
	return About{}
}
