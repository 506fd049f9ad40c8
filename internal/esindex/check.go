package esindex

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v8/typedapi/core/ping"
)

// Ping returns an error if Elasticsearch does not answer; the errors are those of [Do]. For a user
// without the cluster privilege monitor it checks the index instead.
func Ping(ctx context.Context, client Client, index string) error {
	// The media type of every other request; the default is specific to version 8.
	res, err := ping.New(client).Header("Accept", "application/json").Perform(ctx)
	if err != nil {
		return unavailable(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	if err = readAnswer(ctx, res, http.MethodHead, nil); Forbidden(err) && fromElasticsearch(res) {
		return Do(ctx, client, http.MethodHead, "/"+index, "", nil, nil)
	}
	return err
}

// Stored has the properties of the documents of an index, by its mapping.
type Stored struct {
	Whole bool // they are stored as they were sent: no template disables or filters _source
	Items bool // Freshet has created the index for items
}

// StoredIn reads the mappings of indices. It leaves out indices that do not exist, and those of which there is
// nothing to say: their documents are whole, and no items.
func StoredIn(ctx context.Context, client Client, indices []string) (map[string]Stored, error) {
	var found map[string]struct {
		Mappings mapping `json:"mappings"`
	}
	parameters := "ignore_unavailable=true&filter_path=*.mappings._source,*.mappings.properties." + DefaultTitleTokens + ".type,error,status"
	err := Ask(ctx, client, http.MethodGet, "/"+strings.Join(indices, ",")+"/_mapping", parameters, nil, &found)
	if Missing(err) {
		return nil, nil
	}
	stored := make(map[string]Stored, len(found))
	for name, of := range found {
		stored[name] = Stored{Whole: !of.Mappings.Source.lacking(), Items: len(of.Mappings.Properties) > 0}
	}
	return stored, err
}

// CheckProduct returns which product answers, in which version.
func CheckProduct(ctx context.Context, client Client) (About, error) {
	var about About
	err := Do(ctx, client, http.MethodGet, "/", "", nil, func(body []byte) error {
		about = aboutOf(bytes.NewReader(body))
		return nil
	})
	return about, err
}

// CheckClocks returns the current time of each node, by node id.
func CheckClocks(ctx context.Context, client Client) (map[string]time.Time, error) {
	var stats struct {
		Nodes map[string]struct {
			Timestamp int64 `json:"timestamp"`
		} `json:"nodes"`
	}
	if err := Ask(ctx, client, http.MethodGet, "/_nodes/stats/process", "", nil, &stats); err != nil {
		return nil, err
	}
	clocks := make(map[string]time.Time, len(stats.Nodes))
	for id, node := range stats.Nodes {
		clocks[id] = time.UnixMilli(node.Timestamp)
	}
	return clocks, nil
}

// Copies holds the state of the shard copies of an index. Its health is green if all shards and
// replicas are assigned, yellow if a replica is on no node, red if a primary shard is missing.
type Copies struct {
	Index    string `json:"index"`
	Health   string `json:"health"`
	Replicas string `json:"rep"` // configured number per shard
}

// CheckCopies returns the state of those of the indices that exist.
func CheckCopies(ctx context.Context, client Client, indices []string) (rows []Copies, err error) {
	err = Ask(ctx, client, http.MethodGet, "/_cat/indices/"+strings.Join(indices, ","), "format=json&h=index,health,rep&ignore_unavailable=true", nil, &rows)
	return rows, err
}
