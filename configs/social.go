package configs

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
)

// Values of social.follows.
const (
	FollowsOpen = "open" // social.follows: agents follow and unfollow by their own calls
	FollowsApp  = "app"  // social.follows: only admin calls and events do
)

// Social configures posts, follows, circles and likes.
type Social struct {
	Off     bool   `key:"off" help:"a feed of items alone, without posts, follows and timelines"`
	Follows string `key:"follows" help:"who makes follows: open (agents themselves) or app (only admin calls and events)" oneof:"open,app"`
}

// Timeline configures the lists that timelines are read from: in this process, or in Redis if posts
// are in PostgreSQL.
type Timeline struct {
	Cap         int    `key:"cap" help:"posts of one agent's list; older ones are read from the database" range:"20 to 5000"`
	CelebrityAt int    `key:"celebrity.at" help:"followers from which on an author's posts are pulled from one outbox when a timeline is read, not pushed into every list" range:"1 to 1000000"`
	RedisURL    string `key:"redis_url" help:"Redis of the lists and the cached cards, as redis.url; empty: that one"`
}

// Changes configures the outbox of changes, GET /v1/changes.
type Changes struct {
	Retention time.Duration `key:"retention" help:"how long changes of posts, follows, likes and groups are kept for GET /v1/changes; 0: none are written" range:"0 to 720h"`
}

// Notifications configures what agents are told of, GET /v1/agents/{agent_id}/notifications.
type Notifications struct {
	Retention time.Duration `key:"retention" help:"how long notifications of agents are kept; 0: none are written" range:"0 to 8760h"`
	Most      int           `key:"most" help:"about how many notifications of one agent are kept, the newest" range:"20 to 2000"`
}

// Erasures configures the list of erased agents.
type Erasures struct {
	File string `key:"file" help:"file to which the id of each erased agent is appended before it is erased, for freshet restore --erased; not in data_dir; empty: none"`
}

// Reports configures what agents report to moderators.
type Reports struct {
	Retention time.Duration `key:"retention" help:"how long reports are kept after they were decided; 0: for ever"`
}

// Home configures the mix of the home feed.
type Home struct {
	Pattern string `key:"pattern" help:"which source fills each position of home: five_percent or every_tenth (of 20 or 10 positions the 9th is promoted), or one letter a position, repeated: C (posts by people whom the reader follows), T (trending and discovered items in turn), P (promoted items)"`
}

// Media configures the storage of posts' images.
type Media struct {
	URL    string `key:"url" help:"where images are kept: s3://bucket?region=… or file:///folder; empty: in data_dir, or nowhere with PostgreSQL"`
	Memory int    `key:"memory" help:"MiB that images may take while they are decoded, all together; an image that needs more is refused" range:"64 to 1048576"`
}

// Positions returns the pattern of home, which must be valid.
func (h Home) Positions() feed.Pattern {
	p, _ := feed.ParsePattern(h.Pattern)
	return p
}

// Postgres configures the store of posts, follows, circles and likes. It is used if the URL is set.
type Postgres struct {
	URL string `key:"url" help:"postgres://user:password@host:port/database; empty: no PostgreSQL"`
}

// Jobs configures the workers that derive lists and items from posts and follows.
type Jobs struct {
	Workers int `key:"workers" help:"jobs that one server works on at once; 0: it only serves" range:"0 to 1000"`
}

// CelebrityUntil returns the number of followers below which an author's posts are pushed again
// instead of pulled: a tenth less than the threshold, to prevent flapping.
func (t Timeline) CelebrityUntil() int { return t.CelebrityAt - t.CelebrityAt/10 }

// UsesRedis reports whether dedup filters and sessions are in Redis instead of this process.
func (c Config) UsesRedis() bool { return c.Redis.URL != "" }

// UsesElasticsearch reports whether items and profiles are stored in Elasticsearch, and recalled
// from there, instead of SQLite.
func (c Config) UsesElasticsearch() bool { return len(c.Elasticsearch.Addresses) > 0 }

// UsesPostgres reports whether posts and follows are in PostgreSQL instead of SQLite.
func (c Config) UsesPostgres() bool { return c.Postgres.URL != "" && !c.Social.Off }

// SocialOn reports whether there are posts, follows and timelines: in PostgreSQL, or in SQLite if
// everything else is embedded too. SQLite is private to one process and cannot be shared by several
// servers as Redis and Elasticsearch are.
func (c Config) SocialOn() bool {
	embedded := !c.UsesRedis() && !c.UsesElasticsearch()
	return c.UsesPostgres() || embedded && !c.Social.Off
}

// Stores returns the names of the stores of items, impressions (with sessions) and posts.
func (c Config) Stores() (items, impressions, posts string) {
	items, impressions, posts = "sqlite", "memory", "off"
	if c.UsesElasticsearch() {
		items = "elasticsearch"
	}
	if c.UsesRedis() {
		impressions = "redis"
	}
	if c.UsesPostgres() {
		posts = "postgres"
	} else if c.SocialOn() {
		posts = "sqlite"
	}
	return items, impressions, posts
}

// WithListsRedis returns the configuration with the Redis of the lists in place of the main one. It
// waits for no replicas, because lists only propose items.
func (c Config) WithListsRedis() Config {
	c.Redis.URL, c.Redis.Password, c.Redis.WaitReplicas = c.Timeline.RedisURL, "", 0
	file, ok := c.Files["timeline.redis_url"]
	c.Files = nil
	if ok {
		c.Files = map[string]string{"redis.url": file}
	}
	return c
}

func (c Config) checkSocial(p *Problems) {
	if _, err := feed.ParsePattern(c.Home.Pattern); err != nil {
		p.add("home.pattern", "is no pattern: %v", err)
	}
	c.checkListsRedis(p)
	c.checkMedia(p)
	if c.SocialOn() && !c.UsesPostgres() && c.Jobs.Workers == 0 {
		p.add("jobs.workers", "must be 1 or more without postgres.url: no other process can do the work")
	}
	if c.UsesPostgres() {
		c.checkPostgres(p)
	}
}

// isPostgresSocket reports whether a URL names the directory of a socket in place of a host.
func isPostgresSocket(u *url.URL) bool {
	named := u.Scheme == "postgres" || u.Scheme == "postgresql"
	return named && u.Host == "" && strings.HasPrefix(u.Query().Get("host"), "/") && !lateUser(u)
}

func (c Config) checkPostgres(p *Problems) {
	u, err := url.Parse(c.Postgres.URL)
	switch {
	case err != nil || !isServer(u, "postgres", "postgresql") && !isPostgresSocket(u):
		p.add("postgres.url", "must be postgres://user:password@host:port/database, or postgres://user@/database?host=/directory for the socket in a directory; in a user or password, %s", inUsers)
	case u.Query().Has("password"):
		p.add("postgres.url", "must have its password before the host, postgres://user:password@host:port/database: there it is kept out of logs")
	case u.Query().Has("pool_max_conns"):
		if n, err := strconv.Atoi(u.Query().Get("pool_max_conns")); err != nil || n < 1 || n > 10_000 {
			p.add("postgres.url", "must have a number of 1 to 10000 as its pool_max_conns")
		}
	}
	if !c.UsesRedis() {
		p.add("postgres.url", "is for servers that share a Redis, which keeps the lists of timelines: set redis.url, too")
	}
}

// checkMedia checks the location of images.
// isMediaStore reports whether a URL names a bucket or a folder.
func isMediaStore(u *url.URL) bool {
	switch u.Scheme {
	case "s3":
		return u.Host != ""
	case "file":
		return u.Path != ""
	}
	return false
}

func (c Config) checkMedia(p *Problems) {
	if c.Media.URL == "" {
		return
	}
	u, err := url.Parse(c.Media.URL)
	switch {
	case err != nil || !isMediaStore(u):
		p.add("media.url", "must be s3://bucket?region=… or file:///folder")
	case u.User != nil:
		p.add("media.url", "must not have credentials: give them as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or have the machine's role asked by &machine_role=true")
	case !c.SocialOn():
		p.add("media.url", "must not be set without posts: those need postgres.url, or a server without redis.url and elasticsearch.addresses; and social.off must be false")
	}
}

// checkListsRedis checks the separate Redis of the lists.
func (c Config) checkListsRedis(p *Problems) {
	if c.Timeline.RedisURL == "" {
		return
	}
	_, problem := parseRedisURL(c.Timeline.RedisURL)
	if problem != "" {
		p.add("timeline.redis_url", "%s", problem)
	}
	if !c.UsesPostgres() {
		p.add("timeline.redis_url", "must not be set unless posts are in PostgreSQL (postgres.url): the lists are kept in this process")
	}
}
