package esindex

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// settings are those of the indices behind a name: their UUIDs, in the order of the
// indices' names, and the least of their windows.
type settings struct {
	uuids  string
	window int
}

func settingsOf(ctx context.Context, client Client, index string) (settings, error) {
	var found map[string]struct {
		Settings struct {
			UUID   string `json:"index.uuid"`
			Window int    `json:"index.max_result_window,string"`
		} `json:"settings"`
	}
	err := Do(ctx, client, http.MethodGet, "/"+index+"/_settings/index.uuid,index.max_result_window", "flat_settings=true&allow_no_indices=false", nil,
		func(body []byte) error { return json.Unmarshal(body, &found) })
	list, window := make([]string, 0, len(found)), DefaultWindow
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[name].Settings.UUID)
		window = min(window, cmp.Or(found[name].Settings.Window, DefaultWindow))
	}
	return settings{strings.Join(list, ","), window}, err
}
