package configs

const (
	recorder = "is gone, delete it: batches grow with the traffic, to 1000 impressions, and eight are written at a time"
	mirror   = "is gone, delete it: Redis is asked about every day of the window; where it has too much to do, dedup.shards spreads " +
		"a day's filters over the masters of a cluster"
)

// removed lists the keys of earlier versions with the reason for each. A
// configuration that still names one is refused, since it would have no effect.
var removed = map[string]string{
	"recall.max_rounds": "is gone, delete it: a refresh goes on until its page is full, recall has no more, " +
		"or a tenth of server.request_timeout has passed",
	"recall.base":            "is now ranking.base (FRESHET_RANKING_BASE)",
	"recall.origin_step":     "is gone, delete it: the decay's origin is rounded down to a second",
	"sessions.coalesce":      "is gone, delete it: a refresh that waited for another one of its agent pages from that one's session, if it began less than a second ago",
	"impressions.batch":      recorder,
	"impressions.linger":     recorder,
	"impressions.workers":    recorder,
	"dedup.mirror":           mirror, // as an empty section
	"dedup.mirror.enabled":   mirror,
	"dedup.mirror.max_bytes": mirror,

	"recall.cache_ttl":         "is gone, delete it: equal recalls share an answer for a second",
	"recall.stale_ttl":         "is gone, delete it: what was recalled stands in for ten minutes while recall is down",
	"server.max_streams":       "is gone, delete it: half of the files that the process may open, 10,000 at most, are streams",
	"server.rate_burst":        "is gone, delete it: as many calls as server.rate_limit allows in a second may come at once",
	"server.pprof":             "is gone, delete it: admins are always answered under /debug/pprof/",
	"server.compress":          "is gone, delete it: answers are compressed where Accept-Encoding asks for it; a gateway that compresses itself leaves that header out",
	"server.cors.credentials":  "is gone, delete it: pages of server.cors.origins may send cookies where auth.mode is header, unless * is among them",
	"catalog.prefetch":         "is gone, delete it: next pages are always read ahead where content is in a service",
	"dedup.pending_grace":      "is gone, delete it: it is twice server.request_timeout",
	"impressions.pending_ttl":  "is gone, delete it: it is sessions.ttl",
	"redis.wait_timeout":       "is gone, delete it: it is a twentieth of server.request_timeout",
	"timeline.ttl":             "is gone, delete it: a list that nobody reads lives a week",
	"timeline.celebrity.until": "is gone, delete it: it is nine tenths of timeline.celebrity.at",
}

// Removed explains a key of an earlier version; the text follows the
// key in a sentence. ok is false for every other key.
func Removed(key string) (what string, ok bool) {
	what, ok = removed[key]
	return what, ok
}

// removedVariable is [Removed] for an environment variable.
func removedVariable(name string) (what string, ok bool) {
	for key, what := range removed {
		if EnvName(key) == name {
			return what, true
		}
	}
	return "", false
}
