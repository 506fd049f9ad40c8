package configs

const (
	recorder = "is gone, delete it: batches grow with the traffic, to 1000 impressions, and eight are written at a time"
	ownField = "is gone, delete it: in every index the field is called "
	backend  = "is gone, delete it: "
	inRedis  = "is now a part of redis.url: "
	inLists  = "is now a part of timeline.redis_url: "
	mirror   = "is gone, delete it: Redis is asked about every day of the window; where it has too much to do, dedup.shards spreads " +
		"a day's filters over the masters of a cluster"
)

// removed lists the keys of earlier versions with the reason for each. A
// configuration that still names one is refused, since it would have no effect.
var removed = map[string]string{
	"recall.max_rounds": "is gone, delete it: a refresh goes on until its page is full, recall has no more, " +
		"or a tenth of server.request_timeout has passed",
	"recall.base":            "is now ranking.base (FRESHET_RANKING=base=0.1)",
	"recall.origin_step":     "is gone, delete it: the decay's origin is rounded down to a second",
	"sessions.coalesce":      "is gone, delete it: a refresh that waited for another one of its agent pages from that one's session, if it began less than a second ago",
	"impressions.batch":      recorder,
	"impressions.linger":     recorder,
	"impressions.workers":    recorder,
	"dedup.mirror":           mirror, // as an empty section
	"dedup.mirror.enabled":   mirror,
	"dedup.mirror.max_bytes": mirror,

	"recall.cache_ttl":                    "is gone, delete it: equal recalls share an answer for a second",
	"recall.stale_ttl":                    "is gone, delete it: what was recalled stands in for ten minutes while recall is down",
	"server.max_streams":                  "is gone, delete it: half of the files that the process may open, 10,000 at most, are streams",
	"server.rate_burst":                   "is gone, delete it: as many calls as server.rate_limit allows in a second may come at once",
	"server.pprof":                        "is gone, delete it: admins are always answered under /debug/pprof/",
	"server.compress":                     "is gone, delete it: answers are compressed where Accept-Encoding asks for it; a gateway that compresses itself leaves that header out",
	"server.cors.credentials":             "is gone, delete it: pages of server.cors.origins may send cookies where auth.mode is header, unless * is among them",
	"catalog.prefetch":                    "is gone, delete it: next pages are always read ahead where content is in a service",
	"dedup.pending_grace":                 "is gone, delete it: it is twice server.request_timeout",
	"impressions.pending_ttl":             "is gone, delete it: it is sessions.ttl",
	"redis.wait_timeout":                  "is gone, delete it: it is a twentieth of server.request_timeout",
	"elasticsearch.fields.title_tokens":   ownField + "freshet_title",
	"elasticsearch.fields.summary_tokens": ownField + "freshet_summary",
	"elasticsearch.fields.site":           ownField + "freshet_site",
	"elasticsearch.fields.sum_2h":         ownField + "freshet_sum_2h",
	"elasticsearch.fields.epoch_2h":       ownField + "freshet_epoch_2h",
	"elasticsearch.fields.sum_2d":         ownField + "freshet_sum_2d",
	"elasticsearch.fields.epoch_2d":       ownField + "freshet_epoch_2d",

	"catalog.backend":  backend + "items are in Elasticsearch where elasticsearch.addresses is given, else in SQLite",
	"recall.backend":   backend + "candidates come from Elasticsearch where elasticsearch.addresses is given, else from an index in this process",
	"dedup.backend":    backend + "impressions are in Redis where redis.url is given, else in this process",
	"sessions.backend": backend + "sessions are in Redis where redis.url is given, else in this process",
	"social.backend": backend + "posts are in PostgreSQL where postgres.url is given, else in SQLite where Redis and Elasticsearch are not used either; " +
		"social.off: true turns them off",
	"redis.addrs":             "is now redis.url: redis://host:port, with ?addr=host:port for each further node of a cluster or Sentinel",
	"redis.username":          inRedis + "redis://user:password@host:port",
	"redis.db":                inRedis + "redis://host:port/1",
	"redis.tls":               inRedis + "rediss://host:port",
	"redis.master_name":       inRedis + "redis://host:26379?addr=host:26379&master_name=mymaster, with the Sentinels",
	"redis.sentinel_username": inRedis + "where master_name is, the user before the host is the Sentinels', and username= and password= are the master's",
	"redis.sentinel_password": inRedis + "where master_name is, the password before the host is the Sentinels', and username= and password= are the master's",

	"timeline.redis":                   "is now timeline.redis_url",
	"timeline.redis.addrs":             "is now timeline.redis_url, as redis.url",
	"timeline.redis.username":          inLists + "redis://user:password@host:port",
	"timeline.redis.password":          inLists + "redis://user:password@host:port",
	"timeline.redis.db":                inLists + "redis://host:port/1",
	"timeline.redis.tls":               inLists + "rediss://host:port",
	"timeline.redis.master_name":       inLists + "redis://host:26379?addr=host:26379&master_name=mymaster, with the Sentinels",
	"timeline.redis.sentinel_username": inLists + "where master_name is, the user before the host is the Sentinels'",
	"timeline.redis.sentinel_password": inLists + "where master_name is, the password before the host is the Sentinels'",

	"postgres.max_conns":                    "is now a part of postgres.url: ?pool_max_conns=20",
	"postgres.ca_cert":                      "is now a part of postgres.url: ?sslmode=verify-full&sslrootcert=file",
	"elasticsearch.username":                "is now a part of elasticsearch.addresses: https://user@host:port",
	"elasticsearch.fields.update_time_unit": "is gone, delete it: the documents tell whether a number is one of seconds or of milliseconds",
	"elasticsearch.fields.popularity":       ownField + "freshet_popularity; where yours has another name, add a field of type alias to the mapping",

	"timeline.ttl":             "is gone, delete it: a list that nobody reads lives a week",
	"timeline.celebrity.until": "is gone, delete it: it is nine tenths of timeline.celebrity.at",
}

// rankingKeys are the keys that parameters of the ranking had, each with the name that it
// has now. Some have the same one in the file, and none in a variable or a flag.
var rankingKeys = map[string]string{
	"ranking.base": "base", "ranking.decay.curves": "curves", "ranking.decay.scale": "scale", "ranking.decay.offset": "offset",
	"ranking.decay.decay": "decay", "ranking.decay.floor": "floor",
	"ranking.popularity.weight": "weight", "ranking.popularity.weight_2h": "weight_2h", "ranking.popularity.weight_2d": "weight_2d",
	"ranking.keywords.summary":       "summary",
	"ranking.diversity.author.decay": "author.decay", "ranking.diversity.author.floor": "author.floor",
	"ranking.diversity.site.decay": "site.decay", "ranking.diversity.site.floor": "site.floor",
	"ranking.diversity.tag.decay": "tag.decay", "ranking.diversity.tag.floor": "tag.floor", "ranking.diversity.same_story": "same_story",
	"ranking.explore.share": "explore.share",
	"ranking.learned.tags":  "learned.tags", "ranking.learned.author": "learned.author", "ranking.learned.lang": "learned.lang",
	"ranking.learned.words": "learned.words", "ranking.learned.negative": "learned.negative", "ranking.learned.half_life": "learned.half_life",
	"ranking.home.decay": "home.decay", "ranking.home.following": "home.following", "ranking.home.trending": "home.trending",
	"ranking.home.promoted": "home.promoted", "ranking.home.affinity": "home.affinity",
}

// Removed explains a key of an earlier version; the text follows the
// key in a sentence. ok is false for every other key.
func Removed(key string) (what string, ok bool) {
	if name, renamed := rankingKeys[key]; renamed {
		return "has a new name: ranking." + name + " in the file, " + name + "=... in FRESHET_RANKING and --ranking", true
	}
	what, ok = removed[key]
	return what, ok
}

// removedVariable is [Removed] for an environment variable.
func removedVariable(name string) (what string, ok bool) {
	for key := range removed {
		if EnvName(key) == name {
			return Removed(key)
		}
	}
	for key := range rankingKeys {
		if EnvName(key) == name {
			return Removed(key)
		}
	}
	return "", false
}
