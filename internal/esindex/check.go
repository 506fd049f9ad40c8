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

// Ping returns an error where Elasticsearch does not answer, of the kinds of [Do]. A user
// without the cluster privilege monitor may ask for the index alone.
func Ping(ctx context.Context, client Client, index string) error {
	// The type that every other request takes; by default it is one of version 8 alone.
	res, err := ping.New(client).Header("Accept", "application/json").Perform(ctx)
	if err != nil {
		return unavailable(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	if err = readAnswer(ctx, res, http.MethodHead, nil); forbidden(err) && own(res) {
		return Do(ctx, client, http.MethodHead, "/"+index, "", nil, nil)
	}
	return err
}

// WithoutSource returns those of the indices that keep their documents not as they were
// sent, because a template switches _source off or filters it. An index that does not
// exist, or whose mapping this user may not read, is none of them.
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

// CheckClocks returns what time it is by each node, by their ids.
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

// Copies tells of an index whether its shards have copies: its health is green where all
// have, yellow where a replica is on no node, red where a primary shard is missing.
type Copies struct {
	Index    string `json:"index"`
	Health   string `json:"health"`
	Replicas string `json:"rep"` // how many each shard is to have
}

// CheckCopies asks for those of the indices that are there.
func CheckCopies(ctx context.Context, client Client, indices []string) (rows []Copies, err error) {
	err = Ask(ctx, client, http.MethodGet, "/_cat/indices/"+strings.Join(indices, ","), "format=json&h=index,health,rep&ignore_unavailable=true", nil, &rows)
	return rows, err
}
