package sqlstore

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/freshet/freshet/social"
)

// Bounds of a [Memo].
const (
	memoPosts   = 10_000
	memoContent = 4096 // bytes; a post with more is not cached
	memoAuthors = 10_000
	memoCircles = 10_000
	// memoOfReader bounds the number of authors, and of posts with a known like or none, per reader.
	memoOfReader = 2000
)

// Memo caches the data of cards in memory, posts, authors, and readers' relations to them, and the
// result of [Store.Celebrities]. A page of home reads about two hundred posts, and hardly any has
// changed since the last time.
//
// It returns the same result as one statement that begins after the call. Whatever transactions have
// touched is evicted, and what was read is neither used nor cached if something was evicted
// meanwhile: then one statement answers.
//
//   - Where one process writes, the database calls [Memo.Begin] before a transaction commits and
//     [Memo.End] afterwards, with what it has touched. While it commits, the memo is not used.
//   - Where several processes write, a [Validate] brings the memo up to date after the data was found,
//     or read, and before it is used.
type Memo struct {
	store      *Store
	validate   Validate
	mu         sync.Mutex
	committing bool
	turn       uint64 // counts evictions, and starts of commits that touched something
	posts      *lru.LRU[string, *postFacts]
	authors    *lru.LRU[string, *authorFacts]
	readers    *lru.LRU[string, *readerFacts]
	circles    *lru.LRU[string, *circleFacts]
	pulled     *lru.LRU[string, social.Pulled] // results of Celebrities, by reader
}

// Validate evicts from a [Memo] what transactions have touched that committed before a time, which is
// not later than the call. After an error the memo must not be used for this answer.
type Validate func(ctx context.Context, before time.Time) error

// Touched identifies an entry of a [Memo] that a transaction has invalidated.
type Touched struct {
	Kind int
	Key  string
}

// Kinds of [Touched].
const (
	TouchedPost     = iota + 1 // by id
	TouchedAuthor              // by id
	TouchedReader              // by agent: their relations to authors, memberships, and whom they pull
	TouchedLikes               // by agent
	TouchedOwner               // all circles: an owner was erased
	TouchedCircle              // by id
	TouchedDelivery            // of an author: whom all readers pull
)

// Watched lists by table which changes touch which entries; @ is the row. If there are columns, an
// UPDATE only matters if it changes one of them, and if there is a condition, an INSERT or DELETE
// only matters if the row meets it. A database has triggers for them, so that no statement is missed.
var Watched = []struct {
	Table, Touches string
	Columns        []string
	When           string
}{
	{"posts", "VALUES (1, @.id)", nil, ""},
	{"post_circles", "VALUES (1, @.post)", nil, ""},
	{"post_mentions", "VALUES (1, @.post)", nil, ""},
	{"removals", "VALUES (1, @.post)", nil, ""},
	{"authors", "VALUES (2, @.id), (3, @.id)", []string{"name", "image_url", "erased", "erased_agent", "suspended_until", "not_recommended"}, ""},
	{"authors", "SELECT 5, '' WHERE @.erased_agent > 0 AND EXISTS (SELECT 1 FROM circles WHERE owner = @.id AND gone = 0)", []string{"erased_agent"}, ""},
	{"authors", "VALUES (7, '')", []string{"delivery"}, "@.delivery <> 'push'"},
	{"follows", "VALUES (3, @.agent)", nil, ""},
	{"blocks", "VALUES (3, @.agent), (3, @.other)", nil, ""},
	{"members", "VALUES (3, @.agent)", nil, ""},
	{"mutes", "VALUES (3, @.agent)", nil, ""},
	{"circles", "VALUES (6, @.id)", []string{"owner", "name", "kind", "put", "gone", "dropped"}, ""},
	{"likes", "VALUES (4, @.agent)", nil, ""},
	{"jobs", "SELECT 3, substr(@.key, 3) WHERE @.kind = 'pair' AND @.key LIKE '*/%'", []string{"state"}, "@.kind = 'pair'"},
}

// postFacts are an existing post, regardless of its author's erasure. They are immutable.
type postFacts struct {
	social.Post // only the fields that a card needs
	created     int64
	arrived     int64
	rootLife    int64     // of a reply: when its root post was created
	deleted     int64     // stamp of the last deletion before it was created again
	addressed   []address // for each circle of its audience
	ownCircle   bool      // see [social.Relation]
	mentioned   []string  // the agents whom it mentions, in the form of [grantOf]
	removals    []social.Removal
	content     []byte
}

// address is the addressing of a post to a circle: the incarnation of the circle, and the place of
// the post in it.
type address struct{ incarnation, at int64 }

// authorFacts are the parts of a card that belong to its author. They are immutable.
type authorFacts struct {
	name, image string
	erased      int64
	suspended   int64 // stamp until which it is; whether that has come is decided at each read

	notRecommended bool
}

// readerFacts are a reader's relations to authors and posts.
type readerFacts struct {
	server  bool // the reader follows [social.Server]
	erased  int64
	circles map[string]memberFacts // of those with the reader as a member
	authors map[string]ties
	liked   map[string]int64 // the incarnation of each post that the reader likes, 0 for no like; missing if not read yet
}

// memberFacts are a reader's membership in a circle.
type memberFacts struct {
	since int64 // see [circle.since]
	// muteEnd is when the reader's mute of a group ends, see [mutedAt].
	muteEnd int64
}

// circleFacts are the parts of a circle that cards need. They are immutable.
type circleFacts struct {
	there       bool
	owner, name string
	plain       bool // neither a group nor an event
	dropped     int64
}

// ties are a reader's relations to an author.
type ties struct {
	followed int64 // stamp of the follow; 0 for none
	blocked  bool
}

// NewMemo returns an empty memo of a store, for up to that many readers. validate is nil where one
// process writes.
func NewMemo(s *Store, readers int, validate Validate) *Memo {
	return &Memo{
		store: s, validate: validate, posts: newLRU[*postFacts](memoPosts), authors: newLRU[*authorFacts](memoAuthors),
		readers: newLRU[*readerFacts](readers), circles: newLRU[*circleFacts](memoCircles), pulled: newLRU[social.Pulled](readers),
	}
}

func newLRU[V any](size int) *lru.LRU[string, V] {
	l, err := lru.NewLRU[string, V](size, nil)
	if err != nil { // impossible: the size is positive
		panic(err)
	}
	return l
}

// Begin is called before the commit of a transaction that touched something.
func (m *Memo) Begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.committing = true
	m.turn++
}

// End is called after the commit, whether it succeeded or not.
func (m *Memo) End(all []Touched) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.committing = false
	m.evict(all)
}

// Evict evicts what transactions of any process have touched.
func (m *Memo) Evict(all []Touched) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.evict(all)
}

// Forget evicts everything.
func (m *Memo) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn++
	m.posts.Purge()
	m.authors.Purge()
	m.readers.Purge()
	m.circles.Purge()
	m.pulled.Purge()
}

func (m *Memo) evict(all []Touched) {
	m.turn++ // reads begun in between may have seen the old state
	for _, t := range all {
		switch t.Kind {
		case TouchedPost:
			m.posts.Remove(t.Key)
		case TouchedAuthor:
			m.authors.Remove(t.Key)
		case TouchedReader:
			m.readers.Remove(t.Key)
			m.pulled.Remove(t.Key)
		case TouchedOwner:
			m.circles.Purge()
		case TouchedCircle:
			m.circles.Remove(t.Key)
		case TouchedDelivery:
			m.pulled.Purge()
		case TouchedLikes:
			if r, ok := m.readers.Peek(t.Key); ok {
				clear(r.liked)
			}
		}
	}
}
