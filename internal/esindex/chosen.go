package esindex

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Chosen is an index setting that others have set, and its effect on Freshet.
type Chosen struct {
	Index, Name, Value string
	Effect             string
	Breaks             bool // the effect is permanent, not only while something else is wrong
}

// blocked maps the settings that block an index to their effects.
var blocked = map[string]string{
	"index.blocks.read_only":              "nothing can be written",
	"index.blocks.read_only_allow_delete": "nothing can be written; Elasticsearch sets it when a disk is full, and removes it once there is room",
	"index.blocks.write":                  "nothing can be written",
	"index.blocks.read":                   "nothing can be searched",
	"index.blocks.metadata":               "its mapping cannot be read",
}

// BlocksWrites reports whether the setting blocks all writes.
func (c Chosen) BlocksWrites() bool {
	return strings.Contains(c.Name, "blocks.") && strings.HasPrefix(blocked[c.Name], noWrites)
}

// noWrites begins the effect of each setting that blocks writes.
const noWrites = "nothing can be written"

// refreshing is the setting that controls how soon searches find new writes.
const refreshing = "index.refresh_interval"

// effect describes the effect of a setting on Freshet, or returns "" if it has none.
func effect(name, value string) (effect string, breaks bool) {
	switch name {
	case "index.write.wait_for_active_shards":
		if value != "0" && value != "1" {
			return "writes are refused while a shard has fewer copies than that", false
		}
	case refreshing:
		if strings.HasPrefix(value, "-") {
			return "searches never find new documents", true
		}
	case "index.default_pipeline", "index.final_pipeline":
		if value != "_none" {
			return "this ingest pipeline may change, drop or reject documents", false
		}
	default:
		if value == "true" {
			return blocked[name], true
		}
	}
	return "", false
}

// CheckSettings returns the settings that stop reads or writes, of an index and of its indices of
// profiles and rankings. An index that does not exist has none.
func CheckSettings(ctx context.Context, client Client, index string) ([]Chosen, error) {
	names := append([]string{"index.write.wait_for_active_shards", "index.default_pipeline", "index.final_pipeline"}, slices.Sorted(maps.Keys(blocked))...)
	beside, err := chosen(ctx, client, Agents(index)+","+Rankings(index), names) // these indices are never searched
	if err != nil {
		return nil, err
	}
	all, err := chosen(ctx, client, index, append(names, refreshing))
	return append(all, beside...), err
}

func chosen(ctx context.Context, client Client, indices string, names []string) (all []Chosen, err error) {
	var found map[string]struct {
		Settings map[string]string `json:"settings"`
	}
	err = Ask(ctx, client, http.MethodGet, "/"+indices+"/_settings/"+strings.Join(names, ","), "flat_settings=true&ignore_unavailable=true", nil, &found)
	for _, in := range slices.Sorted(maps.Keys(found)) {
		for _, name := range slices.Sorted(maps.Keys(found[in].Settings)) {
			value := found[in].Settings[name]
			effect, breaks := effect(name, value)
			if effect != "" {
				all = append(all, Chosen{in, name, value, effect, breaks})
			}
		}
	}
	return all, err
}
