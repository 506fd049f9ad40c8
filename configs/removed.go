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
	"recall.origin_step":     "is gone, delete it: the decay's origin is rounded down to recall.cache_ttl, and to a second at least",
	"sessions.coalesce":      "is gone, delete it: a refresh that waited for another one of its agent pages from that one's session, if it began less than a second ago",
	"impressions.batch":      recorder,
	"impressions.linger":     recorder,
	"impressions.workers":    recorder,
	"dedup.mirror":           mirror, // as an empty section
	"dedup.mirror.enabled":   mirror,
	"dedup.mirror.max_bytes": mirror,
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
