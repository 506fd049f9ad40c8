package handler

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
)

// conditional are the routes that honour If-Match. All other writing routes reject it, because
// the caller relies on it.
var conditional = []string{
	"PUT /v1/ranking", "PUT /v1/feeds/{name}", "DELETE /v1/feeds/{name}", "POST /v1/ranking/revert",
	"PUT /v1/agents/{agent_id}/profile", "PATCH /v1/agents/{agent_id}/profile",
}

// unmatched is the route name of calls without a matching route or method.
const unmatched = "unmatched"

// isRead reports whether a request is a GET or HEAD.
func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// conditions rejects a precondition that the route would ignore.
func conditions(r *http.Request, route route) error {
	if len(r.Header["If-Match"]) == 0 || isRead(r) || slices.Contains(conditional, route.name) {
		return nil
	}
	return fmt.Errorf("%w: this route does not support If-Match; omit it", feed.ErrInvalid)
}

// profileTag returns the ETag of a profile, computed from its declared part only.
func profileTag(p feed.Profile) (string, error) {
	if len(p.MutedItems) == 0 {
		p.MutedItems = nil
	}
	declared, err := json.Marshal(p)
	sum := sha256.Sum256(declared)
	return `"` + hex.EncodeToString(sum[:16]) + `"`, err
}

// isTag reports whether a text is in quotes, with none between them.
func isTag(text string) bool {
	inner, ok := strings.CutPrefix(text, `"`)
	return ok && len(inner) >= 1 && strings.IndexByte(inner, '"') == len(inner)-1
}

// matching returns a function that checks If-Match against the stored profile: it fails with
// [feed.ErrChanged] if a different profile, or none, is stored.
func matching(r *http.Request) (func(stored feed.Profile) error, error) {
	given := r.Header["If-Match"]
	var tags []string
	for tag := range strings.SplitSeq(strings.Join(given, ","), ",") {
		tag = plainTag(strings.TrimSpace(tag))
		if len(given) > 0 && tag != "*" && !isTag(tag) {
			return nil, fmt.Errorf(`%w: If-Match must be an ETag returned by GET or PUT, in quotes, or *`, feed.ErrInvalid)
		}
		tags = append(tags, tag)
	}
	return func(stored feed.Profile) error {
		if len(given) == 0 {
			return nil
		}
		current, err := profileTag(stored)
		if err != nil {
			return err
		}
		if stored.Learned.Alone || !slices.Contains(tags, "*") && !slices.Contains(tags, current) {
			return feed.Errorf(feed.ErrChanged, "the profile has changed since the ETag in If-Match; read it, then change it again")
		}
		return nil
	}, nil
}
