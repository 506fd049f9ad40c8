package retention

// Kind is a kind of data that Freshet stores. docs/retention.md shows all of them, and tests compare them with
// the tables, keys, indices and files that there are.
type Kind struct {
	What string

	// Where it is stored. Social names tables of the database of posts: social.db, or PostgreSQL.
	// The next four name tables of one of these. Keys of Redis are written as in docs/architecture.md; those
	// of Untimed have no TTL. Index has the ends of the names of indices, after elasticsearch.index. Files are
	// patterns in data_dir.
	Social, Postgres, Catalog, Events, CoRead []string
	Redis, Untimed                            []string
	Index                                     []string
	Files                                     []string

	Setting string // the key of the setting that says how long it is kept; "" for none
	Kept    string // how long, if no setting says so, or what else is to be known
	Removed string // what removes it
	// Grows says why it grows with time all the same; "" if it does not. What is kept as long as an
	// agent, a post or an item does not grow with time.
	Grows string

	// Rows is how many there are at once with the traffic that docs/retention.md states, or if it grows
	// how many more in a month, and Bytes how much one takes, with its indices.
	Rows, Bytes int64
}

// What removes data.
const (
	byPurger = "purge"
	byErase  = "`DELETE /v1/agents/{agent_id}`"
	byTTL    = "TTL"
)

// Kinds lists everything that is stored. Logs go to standard error, and are the operator's to remove.
func Kinds() []Kind {
	all := catalogKinds()
	all = append(all, readerKinds()...)
	all = append(all, signalKinds()...)
	all = append(all, postKinds()...)
	all = append(all, peopleKinds()...)
	return append(all, operationKinds()...)
}

func catalogKinds() []Kind {
	return []Kind{
		{
			What: "items", Catalog: []string{"items"}, Index: []string{""},
			Setting: "catalog.retention", Removed: byPurger + "; `DELETE /v1/items/{id}`",
			Rows: 300_000, Bytes: 620,
			Grows: "only while `catalog.retention` is 0, as by default: items are yours",
		},
		{
			What: "contents of items", Redis: []string{"feed:item:<id>"},
			Kept: "10 min", Removed: byTTL, Rows: 12_000, Bytes: 620,
		},
		{
			What: "groups of removed items", Catalog: []string{"removed_groups"}, Redis: []string{"feed:group:<id>"},
			Kept: "8 days", Removed: "the next removal of an item; " + byTTL, Rows: 80_000, Bytes: 130,
		},
		{
			What: "versions of the ranking, with experiments and stored feeds", Catalog: []string{"ranking_versions"}, Index: []string{"-ranking"},
			Kept: "for ever", Rows: 20, Bytes: 2_200,
			Grows: "a row for each change that an admin makes: reports name the version with which a run began",
		},
		{
			What: "trending items", Redis: []string{"feed:trending", "feed:trending:lease"},
			Kept: "24 h", Removed: byTTL, Rows: 1, Bytes: 30_000,
		},
	}
}

func readerKinds() []Kind {
	return []Kind{
		{
			What: "declared profiles: interests, mutes, hidden items; when a reader was erased", Catalog: []string{"profiles"}, Index: []string{"-agents"},
			Kept: "as long as the reader", Removed: byErase + ", `…/profile`", Rows: 200_000, Bytes: 250,
			Grows: "by 100 bytes for each erased reader: acts that arrive late are not learned; by one record of each reader who leaves after they have hidden something",
		},
		{
			What: "what was learned about readers, with the profile", Catalog: []string{"profiles"}, Index: []string{"-agents"},
			Setting: "learning.retention", Kept: "since the last act", Removed: byPurger + "; " + byErase + ", `…/learned`", Rows: 1_500_000, Bytes: 2_600,
		},
		{
			What: "profiles in the cache", Redis: []string{"feed:profile:<agent_id>"},
			Kept: "24 h", Removed: byTTL, Rows: 200_000, Bytes: 232,
		},
		{
			What: "impressions of the window", Redis: []string{"bf:global:<YYYYMMDD>[:<shard>]", "bf:meta:<YYYYMMDD>", "bf:global:probe:size"},
			Files:   []string{"impressions/*.journal", "impressions/*.filter", "impressions/*.tmp", "impressions/clock.json"},
			Setting: "dedup.window_days", Kept: "days", Removed: "the day's end; " + byTTL, Rows: 280_000_000, Bytes: 2,
		},
		{
			What: "pending impressions", Redis: []string{"feed:pending:<agent_id>"},
			Kept: "twice `server.request_timeout`; the key 8 days", Removed: "the next page; " + byTTL, Rows: 40_000, Bytes: 568,
		},
		{
			What: "sessions", Redis: []string{"feed:cache:<agent_id>"},
			Setting: "sessions.ttl", Removed: byTTL, Rows: 37_500, Bytes: 5_320,
		},
		{
			What: "pages for retries", Redis: []string{"feed:page:<agent_id>:<request_id>"}, Files: []string{"pages/pages", "pages/pages.older"},
			Kept: "60 s", Removed: byTTL + "; the next call after a minute or two", Rows: 4_200, Bytes: 1_000,
		},
		{
			What: "times of refreshes", Redis: []string{"feed:refreshed:<agent_id>"},
			Kept: "8 days", Removed: byTTL, Rows: 600_000, Bytes: 120,
		},
		{
			What: "impressions of an outage of Redis", Files: []string{"spool/*.spool", "spool/id"}, Redis: []string{"feed:notes"},
			Kept: "until Redis is back, a day longer than the window at most", Removed: "writing them to Redis",
		},
	}
}

func signalKinds() []Kind {
	return []Kind{
		{
			What: "live popularity, and who has acted on which item", Catalog: []string{"popularity", "popularity_agents"},
			Redis: []string{"popularity:counts:<id>", "popularity:agents:<id>", "popularity:acts:<hash of agent>", "popularity:changed", "popularity:changed:turn"},
			Kept:  "90 days", Removed: byPurger + "; " + byTTL, Rows: 36_000_000, Bytes: 120,
		},
		{
			What: "co-readers, while a ranking uses them", CoRead: []string{"acts", "items", "readers", "checkpoint"},
			Redis:   []string{"coread:acted:<id>", "coread:list:<id>", "coread:reads:<hash of agent>", "coread:readers:<0–15>:batches", "coread:items:turn"},
			Untimed: []string{"coread:readers:<0–15>", "coread:items", "coread:items:lists"},
			Kept:    "a week after the last read; of a reader a year", Removed: byPurger + "; every minute in Redis; " + byTTL, Rows: 70_000, Bytes: 4_300,
		},
		{
			What: "counts for the reports, by version and variant", Events: []string{"counts", "sketches"},
			Redis: []string{"events:<variant>:<YYYYMMDD>:counts", "events:<variant>:<YYYYMMDD>:agents", "events:<variant>:<YYYYMMDD>:authors", "events:variants"},
			Kept:  "90 days", Removed: byPurger + "; " + byTTL, Rows: 90, Bytes: 40_000,
		},
		{
			What: "what has been counted, so that it counts once", Events: []string{"acts", "senders"},
			Redis: []string{"events:<variant>:<YYYYMMDD>:once", "events:<variant>:<YYYYMMDD>:senders"},
			Kept:  "3 days", Removed: byPurger + "; " + byTTL, Rows: 1_200_000, Bytes: 30,
		},
		{
			What: "sums of readers, for the report of an experiment", Events: []string{"cells"}, Redis: []string{"events:<variant>:<YYYYMMDD>:cells<n>"},
			Kept: "90 days", Removed: byPurger + "; " + byTTL, Rows: 5_400_000, Bytes: 25,
		},
		{
			What: "samples of the readers of an experiment", Events: []string{"readers"}, Redis: []string{"events:readers:<variant>"},
			Kept: "90 days", Removed: byPurger + "; " + byTTL, Rows: 40_000, Bytes: 42,
		},
		{
			What: "the last pages of readers, during experiments and with `impressions.on: seen`", Events: []string{"pages"}, Redis: []string{"events:pages:<hash of agent>"},
			Kept: "24 h", Removed: byPurger + "; " + byTTL, Rows: 2_000_000, Bytes: 400,
		},
	}
}
