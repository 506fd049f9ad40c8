package esindex

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// readJSON returns a reader of an answer's body into a value.
func readJSON(into any) func([]byte) error {
	return func(body []byte) error { return json.Unmarshal(body, into) }
}

// Ping returns an error where Elasticsearch does not answer.
func Ping(ctx context.Context, client Client) error {
	return Do(ctx, client, http.MethodHead, "/", "", nil, nil)
}

// CheckVersion returns the version of the server.
func CheckVersion(ctx context.Context, client Client) (string, error) {
	var info struct {
		Version struct {
			Number string `json:"number"`
		} `json:"version"`
	}
	err := Do(ctx, client, http.MethodGet, "/", "", nil, readJSON(&info))
	return info.Version.Number, err
}

// CheckClocks returns what time it is by each node, by their ids.
func CheckClocks(ctx context.Context, client Client) (map[string]time.Time, error) {
	var stats struct {
		Nodes map[string]struct {
			Timestamp int64 `json:"timestamp"`
		} `json:"nodes"`
	}
	if err := Do(ctx, client, http.MethodGet, "/_nodes/stats/process", "", nil, readJSON(&stats)); err != nil {
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
	err = Do(ctx, client, http.MethodGet, "/_cat/indices/"+strings.Join(indices, ","), "format=json&h=index,health,rep&ignore_unavailable=true", nil, readJSON(&rows))
	return rows, err
}
