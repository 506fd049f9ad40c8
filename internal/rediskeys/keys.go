// Package rediskeys defines every key that Freshet stores in Redis, with its type, its TTL and its
// writer, classifies errors of an unavailable Redis, and makes writes wait for replicas. Only the
// Redis backends import it.
//
// They send their commands to a [redis.Cmdable], and leave everything that depends on the kind of
// client to this package: a package that mentions [redis.Client], even through
// [redis.UniversalClient], recompiles all of its 750 methods, which takes 1.7 s.
package rediskeys

import (
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
)

// RefreshedTTL exceeds a window of seven days by a day, so that an agent who returns on the last
// day is still known.
const RefreshedTTL = 8 * 24 * time.Hour

// PendingTTL returns the TTL of a pending set with entries that count for the given time: a day
// longer, and at least that of the usual window of seven days. If a set expired before its entries
// stop counting, their items would be shown again.
func PendingTTL(counts time.Duration) time.Duration {
	return max(7*24*time.Hour, counts) + 24*time.Hour
}

// Keys builds key names. On a cluster the agent's id is a hash tag ({u_1}), so that all keys of an
// agent share a slot and a script may access them together.
type Keys struct {
	prefix  string
	cluster bool
}

// New returns the key names under a prefix, which must not contain braces: they would become the
// hash tag of every key.
func New(prefix string, cluster bool) Keys { return Keys{prefix: prefix, cluster: cluster} }

// Cluster reports whether keys that are used together may be on different servers.
func (k Keys) Cluster() bool { return k.cluster }

// Filter is the key of a day's impressions, or of one shard of them; with a single shard the key
// has no number. Type: Bloom filter, members <agent_id>:<group_id>. TTL: until the day leaves the
// window. Written by dedup/redisbloom, Record.
func (k Keys) Filter(day feed.Day, shard, shards int) string {
	key := k.prefix + "bf:global:" + day.String()
	if shards <= 1 {
		return key
	}
	return key + ":" + strconv.Itoa(shard)
}

// FilterProbe is the key of a filter that never exists; querying it shows whether the server has
// the Bloom filter type.
func (k Keys) FilterProbe() string { return k.prefix + "bf:global:probe" }

// FilterProbes are keys like [Keys.FilterProbe]. On a cluster each master has one or more.
func (k Keys) FilterProbes() []string { return k.everywhere("bf:global:probe") }

// ListProbes are keys by which a write is tried. On a cluster each master has one or more. Type:
// string. TTL: 1 s. Written by [TryWrites].
func (k Keys) ListProbes() []string { return k.everywhere("lists:probe") }

// Shards is the key of the number of shards that a day's impressions are spread over. Type: string,
// a number. TTL: until the day leaves the window. Written once a day by dedup/redisbloom, Record.
func (k Keys) Shards(day feed.Day) string { return k.prefix + "bf:meta:" + day.String() }

// Session is the key of the refs of the agent's last refresh that are not paged yet, best first.
// Type: list of [feed.Ref] strings. TTL: sessions.ttl (30 min), not extended by paging. Written by
// cache/redislist.
func (k Keys) Session(agent string, name feed.Name) string {
	return k.agent("feed:cache:", agent) + ofFeed(name)
}

// Pending is the key of the groups that were served to the agent recently, or that are not
// confirmed in a filter yet. Type: sorted set of groups, score = served-at in Unix milliseconds,
// plus half a millisecond if the group is held: shown by something other than a page of a session.
// TTL: [PendingTTL]. Written by cache/redislist; dedup/redisbloom removes settled groups.
func (k Keys) Pending(agent string) string { return k.agent("feed:pending:", agent) }

// Refreshed is the key of the time of the agent's last refresh that was not silent. Type: string,
// Unix milliseconds; for named feeds <scope>=<Unix milliseconds> of the last 16, the latest first. TTL: [RefreshedTTL]. Written by cache/redislist, Replace.
func (k Keys) Refreshed(agent string, name feed.Name) string {
	return k.agent("feed:refreshed:", agent) + ofFeed(name)
}

// Page is the key of the recorded result of a call, under its request id or a generated name (~…),
// for steps that run again and for retries. Type: string. TTL: 60 s with a request id, else the
// pending grace. Written by cache/redislist and, under a generated name, by dedup/redisbloom.
func (k Keys) Page(agent string, name feed.Name, requestID string) string {
	return k.agent("feed:page:", agent) + ofFeed(name) + ":" + requestID
}

// ofFeed returns a suffix that distinguishes the keys of an agent's feeds: neither agents nor
// request ids contain a colon.
func ofFeed(name feed.Name) string {
	switch {
	case name.Named():
		return ":named"
	case name == feed.HomeFeed:
		return ":home"
	}
	return ""
}

// OutageMarkers is the key of the servers that have delivered pages while Redis was unavailable, and have
// not written them to the filters yet. Type: sorted set, score = end of the marker in Unix
// milliseconds. TTL: 60 s, renewed. Written by dedup/redisbloom.
func (k Keys) OutageMarkers() string { return k.prefix + "feed:notes" }

// Settings is the key of the settings that servers must agree on. Type: string, JSON. No TTL.
// Written by server/sharedsettings.
func (k Keys) Settings() string { return k.prefix + "feed:settings" }

// Timeline is the key of an agent's precomputed timeline. Type: sorted set of post ids, score =
// created at in Unix seconds; the list's state and floor are members with score -inf. TTL: 7 days,
// renewed by every read; 60 s while it is built. Written by social/timeline/redis.
func (k Keys) Timeline(agent string) string { return k.agent("timeline:", agent) }

// Outbox is the key of the latest posts of an author with many followers. Type and TTL: as
// [Keys.Timeline]. Written by social/timeline/redis.
func (k Keys) Outbox(author string) string { return k.agent("celebrity_posts:", author) }

// Wakes is the channel on which servers tell each other that posts were pushed into lists, for
// streams. It is no key. Published to and subscribed by social/timeline/redis.
func (k Keys) Wakes() string { return k.prefix + "lists:wakes" }

// Stamps are the keys that identify the data which lists are part of: one key on a single server,
// several on a cluster. Type: string. TTL: as [Keys.Timeline]. Written by social/timeline/redis.
func (k Keys) Stamps() []string { return k.everywhere("lists:stamp") }

// everywhere returns one key on a single server, on a cluster one in each of [stamps] equal parts of
// the slots, so that a master with twice as many consecutive slots has at least one.
func (k Keys) everywhere(name string) []string {
	if !k.cluster {
		return []string{k.prefix + name}
	}
	keys := make([]string, stamps)
	for i, left := 0, stamps; left > 0; i++ {
		tag := strconv.Itoa(i)
		part := slot(tag) * stamps / slots
		if keys[part] == "" {
			keys[part] = k.agent(name+":", tag)
			left--
		}
	}
	return keys
}

// ListPatterns returns patterns of the keys of data derived from the social store: timelines,
// outboxes and cards.
func (k Keys) ListPatterns() []string {
	escaped := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(k.prefix)
	return []string{escaped + "timeline:*", escaped + "celebrity_posts:*", escaped + "feed:post:*"}
}

const (
	slots  = 16384 // of every cluster
	stamps = 64
)

// slot returns the cluster slot of the keys with a hash tag: its CRC16, modulo the number of slots.
func slot(tag string) int {
	var crc uint16
	for _, b := range []byte(tag) {
		crc ^= uint16(b) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			crc <<= 1
			if carry {
				crc ^= 0x1021
			}
		}
	}
	return int(crc) % slots
}

// Post is the key of the card of a public post, or of a tombstone, with its version. Type: string,
// JSON. TTL: 1 h. Written by social/rediscards.
func (k Keys) Post(id string) string { return k.prefix + "feed:post:" + id }

// ErasedAuthor is the key that hides the cards of an author who was erased. Type: string. TTL: 70
// min. Written by social/rediscards.
func (k Keys) ErasedAuthor(author string) string { return k.prefix + "feed:erased:" + author }

// GraphEvents is the key of events from other systems about posts, follows and circles. It has the
// same name on a cluster, because others write to it. Type: stream, fields type and data. Entries
// that every group has read are trimmed. Read by social/graph/stream.
func (k Keys) GraphEvents() string { return k.prefix + "freshet:events" }

// DeadGraphEvents is the key of the events that were refused, with the error and the id they had in
// [Keys.GraphEvents]. Type: stream. Entries are retained for 7 days. Written by
// social/graph/stream.
func (k Keys) DeadGraphEvents() string { return k.prefix + "freshet:events:dead" }

// Item is the key of an item in the form of answers. Type: string, JSON; empty for a short while
// after a change. TTL: 10 min. Written by catalog/rediscache.
func (k Keys) Item(id string) string { return k.prefix + itemKind + id }

const itemKind = "feed:item:"

// AppendItems appends the key of each item, all in one allocation.
func (k Keys) AppendItems(keys, ids []string) []string {
	size := len(ids) * (len(k.prefix) + len(itemKind))
	for _, id := range ids {
		size += len(id)
	}
	var b strings.Builder
	b.Grow(size)
	for _, id := range ids {
		b.WriteString(k.prefix)
		b.WriteString(itemKind)
		b.WriteString(id)
	}
	for all, rest := b.String(), ids; len(rest) > 0; rest = rest[1:] {
		n := len(k.prefix) + len(itemKind) + len(rest[0])
		keys = append(keys, all[:n])
		all = all[n:]
	}
	return keys
}

// Group is the key of the group of an item that was removed. Type: string. TTL: 8 days. Written by
// catalog/rediscache.
func (k Keys) Group(id string) string { return k.prefix + "feed:group:" + id }

// Profile is the key of an agent's profile. Type: string, JSON; null for an agent without one, and
// a change mark (~…) during a write. TTL: 24 h. Written by catalog/rediscache.
func (k Keys) Profile(agent string) string { return k.agent("feed:profile:", agent) }

// EventKey is a kind of key that exists for each variant and day. All are written by
// signals/events/redis, and on a cluster those of a variant share a slot.
type EventKey string

const (
	// EventCounts holds counts. Type: hash; impressions, the kinds of events, explored,
	// explored_clicks, a<n> for the n-th bucket of ages, and those of promotions, sources and
	// positions. TTL: 90 days after the last change.
	EventCounts EventKey = "counts"
	// EventAgents counts the agents that the variant was shown to. Type: HyperLogLog. TTL: as
	// [EventCounts].
	EventAgents EventKey = "agents"
	// EventAuthors counts the authors of the items shown. Type: HyperLogLog. TTL: as [EventCounts].
	EventAuthors EventKey = "authors"
	// EventOnce holds the actions of agents, so that each counts once, and the items that
	// exploration has shown to agents. Type: set of hashes, 8 bytes each. TTL: 3 days after the
	// last change.
	EventOnce EventKey = "once"
	// EventSenders holds the number of the last batch of counts of each server, so that each batch
	// counts once. Type: hash, server → number. TTL: 3 days after the last change.
	EventSenders EventKey = "senders"
	// EventCells, followed by the number of a column, holds a count for each bucket of agents. Type:
	// string of 10,000 numbers of 32 bits. TTL: as [EventCounts].
	EventCells EventKey = "cells"
)

// Event is the key of this kind for a variant and a day.
func (k Keys) Event(what EventKey, variant string, day feed.Day) string {
	return k.agent("events:", variant) + ":" + day.String() + ":" + string(what)
}

// EventVariants is the key of the variants that were counted. Type: sorted set, score = the last
// day, as a number of days since 1970. TTL: 90 days after the last change.
func (k Keys) EventVariants() string { return k.prefix + "events:variants" }

// EventReaders is the key of a sample of the agents that a run was shown to during an experiment. Type:
// sorted set of hashes of agents, 8 bytes each, 20,000 at most; score = the hash's first 53 bits.
// TTL: 90 days after the last change. Written by signals/events/redis.
func (k Keys) EventReaders(run string) string { return k.agent("events:readers:", run) }

// EventPages is the key of the pages that an agent was given during experiments, by the hash of the
// agent's id. Type: list of records of 130 bytes for 20 items, 50 at most. TTL: 24 h after the last
// page. Written by signals/events/redis.
func (k Keys) EventPages(agent uint64) string {
	return k.agent("events:pages:", strconv.FormatUint(agent, 36))
}

// PopularityCounts is the key of an item's live popularity. Type: hash; last, sum_2h, sum_2d as in
// [feed.Counts]; more, if a setting names further half-lives: their sums, some 30 bytes each. TTL: 90 days after the last act. All keys of popularity are written by
// signals/popularity/redis.
func (k Keys) PopularityCounts(item string) string { return k.agent("popularity:counts:", item) }

// PopularityAgents is the key of the agents that have acted on an item. Type: sorted set of hashes
// of agents, 8 bytes each; score = the day, as a number of days since 1970. TTL: as
// [Keys.PopularityCounts], whose slot it shares on a cluster.
func (k Keys) PopularityAgents(item string) string { return k.agent("popularity:agents:", item) }

// PopularityActs is the key of the items that an agent has acted on, which erasing the agent needs.
// Type: sorted set of items, score = the day. TTL: 90 days after the last act.
func (k Keys) PopularityActs(agent uint64) string {
	return k.agent("popularity:acts:", strconv.FormatUint(agent, 16))
}

// PopularityChanged is the key of the items whose counts must be written to the index. Type: sorted
// set, score = when a server may take the item, in Unix milliseconds. TTL: 90 days after the last
// change.
func (k Keys) PopularityChanged() string { return k.agent("popularity:", "changed") }

// PopularityTurn is the key that marks that a server has just taken items. Type: string. TTL: a few
// seconds. It shares the slot of [Keys.PopularityChanged].
func (k Keys) PopularityTurn() string { return k.PopularityChanged() + ":turn" }

// CoReadActed is the key of those who have acted on a young item. Type: set of hashes of an agent and
// the item, 8 bytes each. TTL: until the item is no longer young. All keys of co-readers are written by
// signals/coread/redis.
func (k Keys) CoReadActed(item string) string { return k.agent("coread:acted:", item) }

// CoReadList is the key of the items that the readers of an item have read after it. Type: string; a
// line for each of at most 20: item, sum, people, update time. TTL: until the last of them is no longer
// young.
func (k Keys) CoReadList(item string) string { return k.agent("coread:list:", item) }

// CoReadReads is the key of the last reads of an agent, by its hash. Type: sorted set of at most 30
// items, score = how many the agent had read with it. TTL: a year after the last one.
func (k Keys) CoReadReads(agent uint64) string {
	return k.agent("coread:reads:", strconv.FormatUint(agent, 16))
}

// CoReadParts is the number of hashes that the readers of items are counted in.
const CoReadParts = 16

// CoReadPart returns which of them, from 0, has an item.
func CoReadPart(item string) int { return int(xxhash.Sum64String(item) % CoReadParts) }

// CoReadReaders is the key of the number of readers of the items of a part. Type: hash, item →
// number. No TTL: fields are removed when [Keys.CoReadItems] lacks the item and it has no list.
func (k Keys) CoReadReaders(part int) string { return k.agent("coread:readers:", strconv.Itoa(part)) }

// CoReadBatches is the key of the last batch of each server that a part of [Keys.CoReadReaders] has,
// whose slot it shares. Type: hash, server → number. TTL: a day.
func (k Keys) CoReadBatches(part int) string { return k.CoReadReaders(part) + ":batches" }

// CoReadItems is the key of the items that somebody has read lately. Type: sorted set, score = until
// when their readers are counted at least, Unix seconds: as long as they are young, and for a week. No
// TTL: they are removed then.
func (k Keys) CoReadItems() string { return k.agent("coread:", "items") }

// CoReadLists is the key of the items that have a list. Type: sorted set, score = when it was last
// written to, Unix seconds. No TTL: they are removed with their lists. It shares the slot of
// [Keys.CoReadItems].
func (k Keys) CoReadLists() string { return k.CoReadItems() + ":lists" }

// CoReadTurn is the key that marks that a server has just removed what has ended. Type: string. TTL: a
// minute.
func (k Keys) CoReadTurn() string { return k.CoReadItems() + ":turn" }

// Trending is the key of the trending set, as trending.Set encodes it. Type: string. TTL: 24 h,
// rewritten every five minutes by recall/trending/redis.
func (k Keys) Trending() string { return k.agent("feed:", "trending") }

// TrendingLease is the key of the lease of the server that computes the next [Keys.Trending], whose
// slot it shares. Type: string. TTL: 15 s.
func (k Keys) TrendingLease() string { return k.Trending() + ":lease" }

// RetentionLease is the key of the lease of the server that removes old items from the catalog.
// Type: string. TTL: that of catalog.Retention's pauses, 10 minutes.
func (k Keys) RetentionLease() string { return k.agent("feed:", "retention") + ":lease" }

// Overview is the key of what servers counted in a minute or hour, by its length and beginning in seconds.
// Type: hash, field = server, value = an overview.Sample as JSON. TTL: as long as it is kept, and an hour.
// Written by server/overview.
func (k Keys) Overview(span, begin int64) string {
	return k.prefix + "overview:" + strconv.FormatInt(span, 10) + ":" + strconv.FormatInt(begin, 10)
}

func (k Keys) agent(kind, agent string) string {
	if k.cluster {
		return k.prefix + kind + "{" + agent + "}"
	}
	return k.prefix + kind + agent
}
