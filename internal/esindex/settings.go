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
// indices' names, the least of their windows, and the least length from which on keywords
// are ignored, 0 where they never are.
type settings struct {
	uuids       string
	window      int
	ignoreAbove int
}

func settingsOf(ctx context.Context, client Client, index string) (settings, error) {
	var found map[string]struct {
		Settings struct {
			UUID   string `json:"index.uuid"`
			Window int    `json:"index.max_result_window,string"`
			Above  int    `json:"index.mapping.ignore_above,string"`
		} `json:"settings"`
	}
	err := Do(ctx, client, http.MethodGet, "/"+index+"/_settings/index.uuid,index.max_result_window,index.mapping.ignore_above", "flat_settings=true&allow_no_indices=false", nil,
		func(body []byte) error { return json.Unmarshal(body, &found) })
	list, window, above := make([]string, 0, len(found)), DefaultWindow, 0
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[name].Settings.UUID)
		window = min(window, cmp.Or(found[name].Settings.Window, DefaultWindow))
		if own := found[name].Settings.Above; own > 0 && (above == 0 || own < above) {
			above = own
		}
	}
	return settings{strings.Join(list, ","), window, above}, err
}
