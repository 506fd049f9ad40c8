package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
)

// What docs/production.md asks of Elasticsearch, in its words; a test compares
// them.
const (
	needsReplicas = "Each index needs a replica on another node: without one, a lost node takes its items with it."
	needsDisk     = "Each disk needs room below the watermarks: past the low one a node gets no new shards, past the flood stage its indices refuse writes."
)

const monitorFix = "give the user the cluster privilege monitor, or compare with docs/production.md"

// indices are the names of all that Freshet keeps in Elasticsearch.
func indices(cfg configs.Config) []string {
	index := cfg.Elasticsearch.Index
	return []string{index, esindex.Agents(index), esindex.Rankings(index)}
}

// readJSON returns a reader of an answer's body into a value.
func readJSON(into any) func([]byte) error {
	return func(body []byte) error { return json.Unmarshal(body, into) }
}

// lookAtReplicas asks whether a node may be lost. What is missing altogether
// is reported elsewhere.
func (d *doctor) lookAtReplicas(ctx context.Context, client esindex.Client) {
	const what, fix = "elasticsearch replicas", "set index.number_of_replicas to 1, and have a second data node"
	var rows []struct {
		Index    string `json:"index"`
		Health   string `json:"health"`
		Replicas string `json:"rep"`
	}
	path := "/_cat/indices/" + strings.Join(indices(d.cfg), ",")
	err := esindex.Do(ctx, client, http.MethodGet, path, "format=json&h=index,health,rep&ignore_unavailable=true", nil, readJSON(&rows))
	if err != nil {
		d.say(Warning, what, monitorFix, "could not be checked: %v", err)
		return
	}
	var broken, none, nowhere []string
	for _, row := range rows {
		switch {
		case row.Health == "red":
			broken = append(broken, row.Index)
		case row.Replicas == "0":
			none = append(none, row.Index)
		case row.Health == "yellow":
			nowhere = append(nowhere, row.Index)
		}
	}
	if len(broken) > 0 {
		d.say(Broken, what, "see GET _cluster/allocation/explain", "without a primary shard, so that searches lack its items: %s", list(broken))
	}
	if len(none) > 0 {
		d.say(Warning, what, fix, "without replicas: %s. %s", list(none), needsReplicas)
	}
	if len(nowhere) > 0 {
		d.say(Warning, what, fix, "with replicas that are on no node: %s. %s", list(nowhere), needsReplicas)
	}
	if len(rows) > 0 && len(broken)+len(none)+len(nowhere) == 0 {
		d.say(OK, what, "", "each index has replicas, on nodes of their own")
	}
}

func list(names []string) string {
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// disk is a data node's, as _cat/allocation has it; the row of shards without
// a node has no sizes.
type disk struct {
	Node  string `json:"node"`
	Free  int64  `json:"disk.avail,string"`
	Total int64  `json:"disk.total,string"`
}

// clusterSettings is the answer of _cluster/settings, flat.
type clusterSettings struct{ Defaults, Persistent, Transient map[string]any }

// disk is a setting of disk-based allocation; transient ones win.
func (s clusterSettings) disk(name string) string {
	for _, m := range []map[string]any{s.Transient, s.Persistent, s.Defaults} {
		if v, ok := m["cluster.routing.allocation.disk."+name].(string); ok {
			return v
		}
	}
	return ""
}

// lookAtDisks compares the data nodes' free space with the watermarks.
func (d *doctor) lookAtDisks(ctx context.Context, client esindex.Client) {
	const what, fix = "elasticsearch disks", "free or add disk space, or add a data node"
	var settings clusterSettings
	err := esindex.Do(ctx, client, http.MethodGet, "/_cluster/settings", "include_defaults=true&flat_settings=true", nil, readJSON(&settings))
	var disks []disk
	if err == nil {
		err = esindex.Do(ctx, client, http.MethodGet, "/_cat/allocation", "format=json&bytes=b&h=node,disk.avail,disk.total", nil, readJSON(&disks))
	}
	if err != nil {
		d.say(Warning, what, monitorFix, "could not be checked: %v", err)
		return
	}
	if settings.disk("threshold_enabled") == "false" {
		d.say(Warning, what, "set cluster.routing.allocation.disk.threshold_enabled to true",
			"cluster.routing.allocation.disk.threshold_enabled is false: no watermark holds. %s", needsDisk)
		return
	}
	var room []string
	for _, node := range disks {
		if node.Total == 0 {
			continue
		}
		mark, limit := node.passed(settings)
		if mark != "" {
			d.say(Warning, what, fix, "%s has %s free, past the %s watermark (%s). %s", node.Node, mebibytes(node.Free), mark, limit, needsDisk)
			continue
		}
		room = append(room, fmt.Sprintf("%s has %s free", node.Node, mebibytes(node.Free)))
	}
	if len(room) > 0 {
		d.say(OK, what, "", "%s", strings.Join(room, ", "))
	}
}

// passed names the worst watermark that a disk is past, and its setting.
func (n disk) passed(s clusterSettings) (mark, limit string) {
	for _, mark := range []string{"flood_stage", "high", "low"} {
		limit := s.disk("watermark." + mark)
		if n.Free < leastFree(limit, s.disk("watermark."+mark+".max_headroom"), n.Total) {
			return mark, limit
		}
	}
	return "", ""
}

// leastFree is how many bytes of a disk a watermark leaves free. It is the
// share that may be used ("85%", "0.85"), of which headroom bounds what is left
// on large disks, or the bytes themselves ("50gb"). What cannot be read is 0.
func leastFree(limit, headroom string, total int64) int64 {
	share, err := strconv.ParseFloat(strings.TrimSuffix(limit, "%"), 64)
	if err != nil {
		return byteSize(limit)
	}
	if strings.HasSuffix(limit, "%") {
		share /= 100
	}
	free := int64(float64(total) * (1 - share))
	if most := byteSize(headroom); most > 0 {
		free = min(free, most)
	}
	return free
}

// byteSize reads a size as Elasticsearch writes it; 0 where it is not one.
func byteSize(text string) int64 {
	text = strings.ToLower(text)
	for i, unit := range []string{"pb", "tb", "gb", "mb", "kb", "b"} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseFloat(number, 64)
			if err != nil {
				return 0
			}
			return int64(n * float64(int64(1)<<(10*(5-i))))
		}
	}
	return 0
}
