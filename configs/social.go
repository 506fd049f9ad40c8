package configs

import (
	"net/url"
	"reflect"

	"github.com/freshet/freshet/feed"
)

// Values of the keys of the social half.
const (
	SocialOff      = "off"
	SocialSQLite   = "sqlite"
	SocialPostgres = "postgres"

	FollowsOpen = "open" // social.follows: agents follow and unfollow by themselves
	FollowsApp  = "app"  // social.follows: only admin calls and events do
)

// Social keeps posts, follows, circles and likes.
type Social struct {
	Backend string `koanf:"backend" help:"where posts and follows are kept: off, sqlite or postgres; empty: sqlite where everything else is embedded, else off" oneof:"off,sqlite,postgres"`
	Follows string `koanf:"follows" help:"who makes follows: open (agents themselves) or app (only admin calls and events)" oneof:"open,app"`
}

// Timeline keeps the lists that timelines are read from: in this process with
// social.backend sqlite, in Redis with postgres.
type Timeline struct {
	Cap       int         `koanf:"cap" help:"posts of one agent's list; older ones are read from the database"`
	Celebrity Celebrity   `koanf:"celebrity"`
	Redis     RedisServer `koanf:"redis"` // of the lists and the kept cards; no addrs: that of Redis
}

// Home says how home is blended.
type Home struct {
	Pattern string `koanf:"pattern" help:"whose each position of home is, one letter a position, repeated: C (posts by whom the reader follows), T (in turn what is trending and what is discovered), P (what is promoted)"`
}

// Media keeps the images of posts.
type Media struct {
	URL    string `koanf:"url" help:"where images are kept: s3://bucket?region=… or file:///folder; empty: in data_dir with social.backend sqlite, nowhere with postgres"`
	Memory int    `koanf:"memory" help:"MiB that images may take while they are decoded, all together; an image that needs more is refused"`
}

// Positions is the pattern of home, which is valid.
func (h Home) Positions() feed.Pattern {
	p, _ := feed.ParsePattern(h.Pattern)
	return p
}

// Celebrity says whose posts are read from one outbox instead of being pushed
// into every follower's list.
type Celebrity struct {
	At int `koanf:"at" help:"followers from which on an author's posts are pulled when a timeline is read"`
}

// Postgres is the database of social.backend postgres.
type Postgres struct {
	URL      string `koanf:"url" help:"postgres://user:password@host:port/database"`
	MaxConns int    `koanf:"max_conns" help:"connections of one server at most"`
	CACert   string `koanf:"ca_cert" help:"file with the certificate (PEM) of the authority that signed the server's certificate"`
}

// Jobs are the workers that derive lists and items from posts and follows.
type Jobs struct {
	Workers int `koanf:"workers" help:"jobs that one server works on at once; 0: it only serves"`
}

// Until is the number of followers below which an author who was pulled is pushed again:
// a tenth less, so that nobody goes back and forth.
func (c Celebrity) Until() int { return c.At - c.At/10 }

// SocialOn reports whether there are posts, follows and timelines.
func (c Config) SocialOn() bool { return c.Social.Backend != SocialOff }

// WithListsRedis returns the configuration with the Redis of the lists in the place of the
// other. Lists only propose, so nothing waits until replicas have them.
func (c Config) WithListsRedis() Config {
	c.Redis.RedisServer = c.Timeline.Redis
	c.Redis.WaitReplicas = 0
	return c
}

// shared reports whether a backend is a service that several servers use.
func (c Config) shared() bool {
	return c.Catalog.Backend != CatalogSQLite || c.Dedup.Backend != DedupMemory || c.Sessions.Backend != SessionsMemory ||
		c.Recall.Backend == RecallElastic
}

func (c Config) checkSocial(p *Problems) {
	if _, err := feed.ParsePattern(c.Home.Pattern); err != nil {
		p.add("home.pattern", "is no pattern: %v", err)
	}
	within(p, "timeline.cap", c.Timeline.Cap, 20, 5000)
	within(p, "timeline.celebrity.at", c.Timeline.Celebrity.At, 1, 1_000_000)
	c.checkListsRedis(p)
	c.checkMedia(p)
	within(p, "postgres.max_conns", c.Postgres.MaxConns, 2, 1000)
	within(p, "jobs.workers", c.Jobs.Workers, 0, 1000)
	switch c.Social.Backend {
	case SocialSQLite:
		if c.shared() {
			p.add("social.backend", "sqlite is private to one process and cannot be shared by several servers as Redis and Elasticsearch are: "+
				"set social.backend postgres, or off")
		}
		if c.Jobs.Workers == 0 {
			p.add("jobs.workers", "must be 1 or more with social.backend sqlite: no other process can do the work")
		}
	case SocialPostgres:
		u, err := url.Parse(c.Postgres.URL)
		switch {
		case err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Host == "":
			p.add("postgres.url", "must be postgres://user:password@host:port/database, because social.backend is postgres")
		case u.Query().Has("password"):
			p.add("postgres.url", "must have its password before the host, postgres://user:password@host:port/database: there it is kept out of logs")
		}
		if c.Dedup.Backend != DedupRedisBloom {
			p.add("social.backend", "postgres is for servers that share a Redis, which keeps the lists of timelines: "+
				"set dedup.backend redisbloom, or social.backend sqlite")
		}
	}
}

// checkMedia holds the rules about where images are kept.
func (c Config) checkMedia(p *Problems) {
	within(p, "media.memory", c.Media.Memory, 64, 1<<20)
	if c.Media.URL == "" {
		return
	}
	u, err := url.Parse(c.Media.URL)
	switch {
	case err != nil || u.Scheme != "s3" && u.Scheme != "file" || u.Scheme == "s3" && u.Host == "" || u.Scheme == "file" && u.Path == "":
		p.add("media.url", "must be s3://bucket?region=… or file:///folder")
	case u.User != nil:
		p.add("media.url", "must not have credentials: give them as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or have the machine's role asked by &machine_role=true")
	case c.Social.Backend == SocialOff:
		p.add("media.url", "must not be set while social.backend is off: there are no posts")
	}
}

// checkListsRedis holds the rules about a Redis of the lists' own.
func (c Config) checkListsRedis(p *Problems) {
	r := c.Timeline.Redis
	r.check(p, "timeline.redis")
	rest := r
	rest.Addrs = nil
	switch {
	case len(r.Addrs) > 0 && c.Social.Backend != SocialPostgres:
		p.add("timeline.redis.addrs", "must not be set unless social.backend is postgres: the lists are kept in this process")
	case len(r.Addrs) == 0 && !reflect.DeepEqual(rest, RedisServer{}):
		p.add("timeline.redis.addrs", "must name a server, because other keys of timeline.redis are set; without any the lists are kept in redis.addrs")
	}
}
