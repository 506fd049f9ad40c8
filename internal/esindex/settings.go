package esindex

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// settings holds the settings of the indices that a name resolves to: their UUIDs, in the order of
// the indices' names, the lowest of their limits, and the lowest ignore_above, 0 if none is set.
type settings struct {
	uuids       string
	limits      Limits
	ignoreAbove int
}

// none represents a limit of 0, since 0 means not set.
const none = -1

func settingsOf(ctx context.Context, client Client, index string) (set settings, err error) {
	var found map[string]struct {
		Settings map[string]string `json:"settings"`
	}
	numbers := map[string]*int{
		"index.max_result_window": &set.limits.hits, "index.max_terms_count": &set.limits.terms,
		"index.max_docvalue_fields_search": &set.limits.docValues, "index.mapping.ignore_above": &set.ignoreAbove,
	}
	names := strings.Join(append([]string{"index.uuid"}, slices.Sorted(maps.Keys(numbers))...), ",")
	err = Ask(ctx, client, http.MethodGet, "/"+index+"/_settings/"+names, "flat_settings=true&allow_no_indices=false", nil, &found)
	uuids := make([]string, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		of := found[name].Settings
		uuids = append(uuids, of["index.uuid"])
		for setting, least := range numbers {
			n, err := strconv.Atoi(of[setting])
			if err != nil {
				continue // not set
			}
			if n == 0 {
				n = none
			}
			if *least == 0 || n < *least {
				*least = n
			}
		}
	}
	set.uuids = strings.Join(uuids, ",")
	return set, err
}
