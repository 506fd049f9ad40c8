// Package configs defines the configuration: its keys with their defaults in Go, the rules for
// their values, and the annotated YAML files for users to copy.
//
// [Load] reads a file, then the environment, then flags; each overrides the previous one. A key is
// a struct field with its tags and its default; file key, environment variable and flag are derived
// from it. Each layer is read separately, so that an error names it and the nearest key.
package configs

import (
	_ "embed"
	"net/url"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
)

// The configuration files that ship with Freshet, including comments.
var (
	//go:embed freshet.yaml
	Embedded []byte // every key with its default: one process, no services
	//go:embed services.yaml
	Services []byte // the differences with Redis and Elasticsearch
)

// Values of the keys that select implementations.
const (
	ModeHeader = "header" // auth.mode: X-Agent-ID set by a trusted gateway
	ModeJWT    = "jwt"    // auth.mode: a verified Bearer token

	GroupByNone = "none" // catalog.group_by: an item without group_id is its own group
	GroupByURL  = "url"  // catalog.group_by: it belongs to the group of its link

	FailOpen   = "open"   // dedup.on_failure: return a degraded response
	FailClosed = "closed" // dedup.on_failure: return 503

	ExhaustedStop   = "stop"   // dedup.when_exhausted: a page contains only unseen items, and may be empty
	ExhaustedOldest = "oldest" // dedup.when_exhausted: the items shown longest ago fill it

	OnServed = "served" // impressions.on: deliveries count
	OnSeen   = "seen"   // impressions.on: items that the client reports count

	FromElasticsearch = "elasticsearch" // recall.from: a search for each refresh
	FromMemory        = "memory"        // recall.from: a copy of the index in each server
)

// Config is the complete configuration. The zero Config is not usable; start from [Default] or
// [Load].
type Config struct {
	Server        Server        `key:"server"`
	DataDir       string        `key:"data_dir" help:"directory of the catalog file and the impression journals"`
	Auth          Auth          `key:"auth"`
	Catalog       Catalog       `key:"catalog"`
	Recall        Recall        `key:"recall"`
	Ranking       feed.Ranking  `key:"ranking" help:"the ranking that a new system starts with, as changes to the default: scale=48h,weight=0.2; \"freshet ranking set --help\" has the names"`
	Popularity    Popularity    `key:"popularity"`
	Learning      Learning      `key:"learning"`
	Dedup         Dedup         `key:"dedup"`
	Sessions      Sessions      `key:"sessions"`
	Impressions   Impressions   `key:"impressions"`
	Redis         Redis         `key:"redis"`
	Elasticsearch Elasticsearch `key:"elasticsearch"`
	Social        Social        `key:"social"`
	Timeline      Timeline      `key:"timeline"`
	Changes       Changes       `key:"changes"`
	Notifications Notifications `key:"notifications"`
	Reports       Reports       `key:"reports"`
	Home          Home          `key:"home"`
	Media         Media         `key:"media"`
	Postgres      Postgres      `key:"postgres"`
	Jobs          Jobs          `key:"jobs"`
	Erasures      Erasures      `key:"erasures"`
	Log           Log           `key:"log"`

	// Files maps keys to the files that their values were read from, as named by variables …_FILE. It
	// is not a setting.
	Files map[string]string `key:"-"`
	// Origins maps keys that are set to where their value is from. It is not a setting.
	Origins map[string]Origin `key:"-"`
}

// Origin is where the value of a setting is from.
type Origin struct {
	Kind string // OriginFile, OriginEnvironment or OriginFlag
	Name string // the file, the variable or the flag
}

// Server configures the HTTP server. A request takes less than a minute: after that time another
// refresh records the items that it has claimed and not yet delivered.
type Server struct {
	Addr            string        `key:"addr" help:"address to listen on, host:port"`
	RequestTimeout  time.Duration `key:"request_timeout" help:"longest time one request may take" range:"1ms to 30s"`
	Drain           time.Duration `key:"drain" help:"how long a server continues to answer after SIGTERM, with /readyz 503, so that load balancers notice; 0: not at all" range:"0 to 10m"`
	ShutdownTimeout time.Duration `key:"shutdown_timeout" help:"longest time to finish requests and record impressions at a stop, after server.drain" range:"1ms to 1h"`
	MaxInFlight     int           `key:"max_in_flight" help:"agents' requests worked on at once; more are answered 503; 0: no bound" range:"0 to 1000000"`
	RateLimit       float64       `key:"rate_limit" help:"requests a second of one agent, as many of which may come at once; more are answered 429; 0: no bound" range:"0 to 1000000"`
	CORSOrigins     []string      `key:"cors.origins" help:"origins whose pages may call the server from a browser, such as https://app.example.com; *: all"`
}

// Auth configures authentication and authorization.
type Auth struct {
	Mode           string `key:"mode" help:"how agents are identified: header (X-Agent-ID from a gateway) or jwt (Bearer token)" oneof:"header,jwt"`
	TrustedGateway bool   `key:"trusted_gateway" help:"only a gateway that sets X-Agent-ID can reach this server: allow header mode on an address that is not loopback"`
	AdminToken     string `key:"admin_token" help:"Bearer token of the admin routes; empty: they answer 403" secret:"true"`
	JWT            JWT    `key:"jwt"`
}

// JWT configures the verification of agents' Bearer tokens.
type JWT struct {
	Secret   string `key:"secret" help:"secret of HS256 tokens" secret:"true"`
	JWKS     string `key:"jwks" help:"file with the public keys (JWKS) of RS256 and ES256 tokens"`
	Issuer   string `key:"issuer" help:"required iss claim; empty: any"`
	Audience string `key:"audience" help:"required aud claim; empty: any"`
	Claim    string `key:"claim" help:"claim of a token that names the agent"`
}

// Popularity configures how clicks and likes are counted.
type Popularity struct {
	HalfLives []string `key:"half_lives" help:"half-lives of live popularity that are kept: 2h and 2d, and any of 1h, 6h, 1d and 7d, which the ranking may then weight"`
}

// Learning configures what is learned about readers from their acts.
type Learning struct {
	Retention time.Duration `key:"retention" help:"how long after a reader's last act what was learned about them is kept; 0: for ever"`
}

// Catalog configures the storage of items and profiles.
type Catalog struct {
	GroupBy   string        `key:"group_by" help:"source of the group_id for a new item without one: url (its link) or none" oneof:"none,url"`
	Retention time.Duration `key:"retention" help:"how long after their update_time items are kept; 0: for ever"`
}

// Recall configures the search for candidates.
type Recall struct {
	From string `key:"from" help:"where candidates are found when items are in Elasticsearch: elasticsearch, or memory (a copy of the index in each server)" oneof:"elasticsearch,memory"`
	N    int    `key:"n" help:"candidates of a refresh's first round of recall" range:"1 to 10000"` // Elasticsearch's index.max_result_window
}

// Dedup configures how impressions are remembered.
type Dedup struct {
	WindowDays        int     `key:"window_days" help:"days an item is not shown again, today included" range:"1 to 60"`
	FalsePositiveRate float64 `key:"false_positive_rate" help:"probability that an unseen item counts as seen, over the whole window"`
	DailyCapacity     int     `key:"daily_capacity" help:"impressions of all agents that one day's filter is sized for" range:"1 to 100000000000"`
	Shards            int     `key:"shards" help:"filters a day is spread over with Redis" range:"1 to 4096"`
	WhenExhausted     string  `key:"when_exhausted" help:"when no unseen items are left: stop (short and empty pages) or oldest (the items shown longest ago are repeated, marked)" oneof:"stop,oldest"`
	OnFailure         string  `key:"on_failure" help:"when Redis is down: open (answer degraded) or closed (answer 503)" oneof:"open,closed"`
}

// Sessions configures the stored rest of each agent's last refresh.
type Sessions struct {
	TTL time.Duration `key:"ttl" help:"life of a session after its refresh" range:"1s to 168h"`
}

// Impressions configures which items count as shown.
type Impressions struct {
	On string `key:"on" help:"what counts as shown: served or seen" oneof:"served,seen"`
}

// Redis configures the store of the dedup filters and the sessions. It is used if the URL is set.
type Redis struct {
	URL          string `key:"url" help:"redis://user:password@host:port/db, rediss:// with TLS; ?addr=host:port for more nodes of a cluster, ?master_name= for Sentinels; empty: no Redis"`
	Password     string `key:"password" help:"password, where the URL has none" secret:"true"`
	CACert       string `key:"ca_cert" help:"file with the certificate (PEM) of the authority that signed the servers' certificates"`
	ClientCert   string `key:"client_cert" help:"file with the certificate (PEM) that this process shows"`
	ClientKey    string `key:"client_key" help:"file with the private key (PEM) of client_cert"`
	KeyPrefix    string `key:"key_prefix" help:"prefix of every key"`
	WaitReplicas int    `key:"wait_replicas" help:"replicas that must have recorded items before they are delivered; 0: do not wait" range:"0 to 10"`
}

// Elasticsearch configures the store of items and profiles. It is used if addresses are set.
type Elasticsearch struct {
	Addresses   []string `key:"addresses" help:"URLs of the nodes, https://user@host:port; empty: no Elasticsearch"`
	Password    string   `key:"password" help:"password of the user in the addresses" secret:"true"`
	APIKey      string   `key:"api_key" help:"API key, instead of user and password" secret:"true"`
	CACert      string   `key:"ca_cert" help:"file with the certificate (PEM) of the authority that signed the nodes' certificates"`
	ClientCert  string   `key:"client_cert" help:"file with the certificate (PEM) that this process shows"`
	ClientKey   string   `key:"client_key" help:"file with the private key (PEM) of client_cert"`
	Index       string   `key:"index" help:"index of the items; profiles are in <index>-agents"`
	ManageIndex bool     `key:"manage_index" help:"create the index at start when it is missing"`
	Fields      Fields   `key:"fields"`
}

// URLs returns the addresses, each with the password of its user.
func (e Elasticsearch) URLs() []string {
	urls := slices.Clone(e.Addresses)
	for i, addr := range urls {
		u, err := url.Parse(addr)
		if err != nil || u.User == nil {
			continue
		}
		_, given := u.User.Password()
		if !given && e.Password != "" {
			u.User = url.UserPassword(u.User.Username(), e.Password)
			urls[i] = u.String()
		}
	}
	return urls
}

// Fields names the fields of the index. An empty name means that the index has no such field; id,
// title and update_time are required.
type Fields struct {
	ID         string `key:"id" help:"index field of the item's id: a keyword field, or _id"`
	GroupID    string `key:"group_id" help:"index field of the group id"`
	Title      string `key:"title" help:"index field of the title"`
	Summary    string `key:"summary" help:"index field of the summary"`
	URL        string `key:"url" help:"index field of the link"`
	ImageURL   string `key:"image_url" help:"index field of the image's link"`
	AuthorID   string `key:"author_id" help:"index field of the author: a keyword field"`
	Lang       string `key:"lang" help:"index field of the language: a keyword field"`
	Tags       string `key:"tags" help:"index field of the tags: a keyword field"`
	UpdateTime string `key:"update_time" help:"index field of the time: a date field or a number"`
	Likes      string `key:"likes" help:"index field of the number of likes"`
	Comments   string `key:"comments" help:"index field of the number of comments"`
}

// Log configures logging.
type Log struct {
	Level  string `key:"level" help:"least level logged: debug, info, warn or error" oneof:"debug,info,warn,error"`
	Format string `key:"format" help:"text or json" oneof:"text,json"`
}

// Default returns the embedded configuration: one process on loopback, everything in the data
// directory, no services.
func Default() Config {
	return Config{
		Server:     Server{Addr: "127.0.0.1:8080", RequestTimeout: 5 * time.Second, Drain: 5 * time.Second, ShutdownTimeout: 15 * time.Second, MaxInFlight: 1000},
		DataDir:    "./freshet-data",
		Auth:       Auth{Mode: ModeHeader, JWT: JWT{Claim: "sub"}},
		Catalog:    Catalog{GroupBy: GroupByNone},
		Recall:     Recall{From: FromElasticsearch, N: 500},
		Ranking:    feed.DefaultRanking(),
		Popularity: Popularity{HalfLives: []string{"2h", "2d"}},
		Learning:   Learning{Retention: 365 * 24 * time.Hour},
		Dedup: Dedup{
			WindowDays: 7, FalsePositiveRate: 0.01, DailyCapacity: 1_000_000, Shards: 1,
			WhenExhausted: ExhaustedStop, OnFailure: FailOpen,
		},
		Sessions:      Sessions{TTL: 30 * time.Minute},
		Impressions:   Impressions{On: OnServed},
		Elasticsearch: Elasticsearch{Index: "freshet-items", ManageIndex: true, Fields: defaultFields()},
		Social:        Social{Follows: FollowsOpen},
		Timeline:      Timeline{Cap: 500, CelebrityAt: 1000},
		Changes:       Changes{Retention: 72 * time.Hour},
		Notifications: Notifications{Retention: 90 * 24 * time.Hour, Most: 500},
		Reports:       Reports{Retention: 365 * 24 * time.Hour},
		Home:          Home{Pattern: feed.DefaultPattern},
		Media:         Media{Memory: 1200},
		Jobs:          Jobs{Workers: 8},
		Log:           Log{Level: "info", Format: "text"},
	}
}

// defaultFields returns the names in an index that Freshet creates.
func defaultFields() Fields {
	return Fields{
		ID: "id", GroupID: "group_id", Title: "title", Summary: "summary", URL: "url", ImageURL: "image_url",
		AuthorID: "author_id", Lang: "lang", Tags: "tags", UpdateTime: "update_time",
		Likes: "likes", Comments: "comments",
	}
}

// PendingGrace returns how long an id stays in the exact pending set after its filter write was
// confirmed. It must be longer than a request: otherwise a refresh that checked the filters just
// before the item was added to one could show it twice.
func (c Config) PendingGrace() time.Duration { return 2 * c.Server.RequestTimeout }

// WaitTimeout returns the longest wait for replicas of Redis; after that the request fails.
func (c Config) WaitTimeout() time.Duration { return c.Server.RequestTimeout / 20 }

// PendingTTL returns how long a delivered item that was not reported stays filtered with
// impressions.on: seen. It is the lifetime of its session, or longer.
func (c Config) PendingTTL() time.Duration { return max(c.Sessions.TTL, 2*c.PendingGrace()) }

// FailsOpen reports whether the server answers while Redis is down.
func (c Config) FailsOpen() bool { return c.UsesRedis() && c.Dedup.OnFailure == FailOpen }

// PopularityOff returns the reason why clicks and likes do not affect the ranking; "" if they do.
func (c Config) PopularityOff() string {
	if c.UsesElasticsearch() && !c.UsesRedis() {
		return "with Elasticsearch it needs Redis (redis.url) to count readers' clicks and likes"
	}
	return ""
}

// HalfLives returns the half-lives of live popularity that are kept beside 2h and 2d.
func (c Config) HalfLives() feed.HalfLives {
	keep, _ := feed.HalfLivesOf(c.Popularity.HalfLives) // Validate has checked them
	return keep
}

// RecallsFromCopy reports whether recall uses a copy of the Elasticsearch index in this process.
func (c Config) RecallsFromCopy() bool {
	return c.UsesElasticsearch() && c.Recall.From == FromMemory
}

// Credentials reports whether the pages of other origins may send cookies, for a gateway that
// identifies readers by them.
func (c Config) Credentials() bool {
	return c.Auth.Mode == ModeHeader && len(c.Server.CORSOrigins) > 0 && !slices.Contains(c.Server.CORSOrigins, "*")
}
