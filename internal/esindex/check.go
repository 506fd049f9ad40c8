package esindex

import (
	"context"
	"maps"
	"net/http"
	"slices"
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
	if err = readAnswer(ctx, res, http.MethodHead, nil); forbidden(err) && fromElasticsearch(res) {
		return Do(ctx, client, http.MethodHead, "/"+index, "", nil, nil)
	}
	return err
}

// WithoutSource returns the indices that do not store documents as they were sent, because a
// template disables or filters _source. It leaves out indices that do not exist, or whose mapping
// this user may not read.
func WithoutSource(ctx context.Context, client Client, indices []string) (without []string, err error) {
	var found map[string]struct {
		Mappings mapping `json:"mappings"`
	}
	err = Ask(ctx, client, http.MethodGet, "/"+strings.Join(indices, ",")+"/_mapping", "ignore_unavailable=true&filter_path=*.mappings._source,error,status", nil, &found)
	if forbidden(err) || Missing(err) {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if found[name].Mappings.Source.lacking() {
			without = append(without, name)
		}
	}
	return without, err
}

// CheckVersion returns the version of the server.
func CheckVersion(ctx context.Context, client Client) (string, error) {
	var info struct {
		Version struct {
			Number string `json:"number"`
		} `json:"version"`
	}
	err := Ask(ctx, client, http.MethodGet, "/", "", nil, &info)
	return info.Version.Number, err
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
