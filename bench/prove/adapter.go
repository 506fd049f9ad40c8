// Package prove counts what feeds repeat, lose and leak while their servers die: it drives a system
// through a small adapter, knows exactly what each reader may see and is owed, and compares.
//
// An adapter implements [System], and is described by an [Adapter]. What the methods promise is
// written at each of them; a system that cannot keep one shows it in its column.
package prove

import (
	"context"
	"errors"
	"time"
)

// Adapter describes a kind of system and starts one.
type Adapter struct {
	Name string // the word of --adapters and the title of the column
	// About says in a sentence what runs, with versions and settings.
	About string
	// Disclaims says what the system does not claim to promise; "" if it claims everything counted.
	Disclaims string
	// Needs returns why it cannot run at this place; "" if it can. Nil means that it always can.
	Needs func(Place) string
	// Start starts all its servers, empty, and returns when they answer.
	Start func(context.Context, Place) (System, error)
	// OwesPublic is set for systems that promise every public post to every reader. All systems owe
	// a reader the posts of those whom the reader follows.
	OwesPublic bool
	// Sentinels is set if the servers find their Redis by [Place.Sentinels] where there are some. Other
	// systems get a single Redis, which restarts but never fails over.
	Sentinels bool
	// RedisSettings are lines of redis.conf that the system's operators are told to set.
	RedisSettings []string
	// Lacks are the notions that the system does not have. Calls that need them are not made, and
	// what is owed by them alone is not counted.
	Lacks []Notion
}

// Notion is a part of a feed that a system may lack.
type Notion string

// The notions.
const (
	Follows   Notion = "follows"
	Blocks    Notion = "blocks"
	Audiences Notion = "posts for followers" // all posts are public
)

// Place is where a system runs. Names that it creates must contain Name, so that they can be
// removed.
type Place struct {
	Name  string // unique to this run: lower-case letters and digits
	Dir   string // an empty directory for its files
	Redis string // host:port of a Redis with the Bloom filter type, empty, for this system only; "" means none
	// Sentinels are host:port of the Sentinels of a master named [Master] and its replicas, in place of Redis.
	Sentinels []string
	Postgres  string // URL of an empty schema for pgxpool, whose pool_* parameters pgx.Connect refuses; "" means none
	Elastic   string // URL of Elasticsearch; "" means none
	// Command is the program and the first arguments that run a server of an adapter in a process of
	// its own, see [Process].
	Command []string
}

// Master is the name by which Sentinels know the master.
const Master = "freshet"

// System is a system under test with one or more servers. Its methods are called concurrently.
//
// Each call names the server that must answer it: the device's own, or another while that one is
// being restarted. A method returns an error if the outcome is unknown or nothing was done, and the
// caller then repeats the same call, with the same request id or key. After nil, what the method
// promises must hold on every server. A cancelled context is a client that has hung up.
type System interface {
	// Servers returns the number of servers, from 1 on.
	Servers() int

	// Next shows the reader the next page of the one feed that is judged: entries that the reader may
	// see at some moment of the call and that no other request id has got within seven days. The same
	// request id of the reader gets the same entries again for a minute, on any server, less those
	// that the reader may no longer see. A page without entries says that there is nothing left.
	Next(ctx context.Context, server int, c Call) (Page, error)

	// Publish publishes a post. Once it returns nil, the post reaches each reader who follows its
	// author and asks on, within the seconds of [Options.Settle]. Repeated with the same key, it
	// publishes nothing more.
	Publish(ctx context.Context, server int, p Post) error

	// Follow makes the reader a follower of the author, or ends that. Only followers may see posts
	// for followers. It applies to every call of Next that begins after it returned. A follow between
	// agents of whom one blocks the other may be refused.
	Follow(ctx context.Context, server int, reader, author string, on bool) error

	// Block separates two agents, or ends that: neither sees the other's posts, and follows between
	// them end and stay ended. It applies to every call of Next that begins after it returned.
	Block(ctx context.Context, server int, agent, other string, on bool) error

	// Delete deletes a post by its key. It applies to every call of Next that begins after it returned.
	// Deleting a post that is gone is no error.
	Delete(ctx context.Context, server int, author, key string) error

	// Restart kills a server as kill -9 does, starts it again with a clock that is ahead of this
	// machine's by the given time, and returns when it answers. What other methods have promised
	// holds across it.
	Restart(ctx context.Context, server int, ahead time.Duration) error

	// Processes returns the ids of its running processes, for CPU time and memory; nil if unknown.
	Processes() []int

	// Close ends all processes and removes what Place does not own. It is called once.
	Close(ctx context.Context) error
}

// Counter is a system that tells how many goroutines its servers have together; 0 if unknown.
type Counter interface {
	Goroutines(ctx context.Context) int
}

// Call asks for a page.
type Call struct {
	Reader    string
	Device    int    // from 0; a reader has two
	RequestID string // the same in each repetition of a call, and in no other call
	More      bool   // the next page of the last one, rather than the best page now
	Limit     int    // entries
}

// Page holds the entries that a reader is shown.
type Page struct {
	Entries []string // keys of posts
	// MayRepeat means that the answer itself says that it may repeat entries, because something is
	// down. Repetitions in it are counted apart.
	MayRepeat bool
	// MayLeak means that the answer says that it could not check who may see what. Entries in it that
	// the reader may not see are counted apart.
	MayLeak bool
	// MayLack means that the answer says that it lacks something. That it is empty is counted apart.
	MayLack bool
	// Says quotes the answer on these three, for the calls of findings.
	Says string
}

// Post is an entry of feeds.
type Post struct {
	Key       string // unique; the system must be able to return it with the post
	Author    string
	Text      string // words that no other post has, the first of which begins with Key: for systems that return no key
	Followers bool   // only for followers; otherwise everybody may see it
}

// ErrRefused is wrapped by errors of calls that the system has refused for good: repeating them is
// useless, and they have changed nothing.
var ErrRefused = errors.New("refused")

// Later is an error of a call that must not be repeated sooner, as an answer with Retry-After asks.
type Later struct {
	Err   error
	After time.Duration
}

func (l *Later) Error() string { return l.Err.Error() }

func (l *Later) Unwrap() error { return l.Err }
