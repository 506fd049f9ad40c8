package sqlstore

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/freshet/freshet/social"
)

// Bounds of a [Memo].
const (
	memoPosts   = 10_000
	memoContent = 4096 // bytes; a post with more is not cached
	memoAuthors = 10_000
	memoReaders = 500
	memoCircles = 10_000
	// memoOfReader bounds the number of authors, and of posts with a known like or none, per reader.
	memoOfReader = 2000
)

// Memo caches the data of cards in memory: posts, authors, and readers' relations to them. A page
// of home reads about two hundred posts, and hardly any has changed since the last time; reading
// them from SQLite takes thirty times as long.
//
// It returns the same result as one statement: the database calls it before a transaction commits
// and, afterwards, with what the transaction has touched. If a transaction ended during a read, or
// one is committing, the cache is not used. This is only correct if a single process writes.
type Memo struct {
	store      *Store
	mu         sync.Mutex
	committing bool
	turn       uint64 // counts starts and ends of commits that touched something
	posts      *lru.LRU[string, *postFacts]
	authors    *lru.LRU[string, *authorFacts]
	readers    *lru.LRU[string, *readerFacts]
	circles    *lru.LRU[string, *circleFacts]
}

// Touched identifies an entry of a [Memo] that a transaction has invalidated.
type Touched struct {
	Kind int
	Key  string
}

// Kinds of [Touched].
const (
	TouchedPost   = iota + 1 // by id
	TouchedAuthor            // by id
	TouchedReader            // by agent: their relations to authors, and memberships
	TouchedLikes             // by agent
	TouchedOwner             // all circles: an owner was erased
	TouchedCircle            // by id
)

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
	muted bool  // a group that the reader has muted
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

// NewMemo returns an empty memo of a store.
func NewMemo(s *Store) *Memo {
	return &Memo{store: s, posts: newLRU[*postFacts](memoPosts), authors: newLRU[*authorFacts](memoAuthors), readers: newLRU[*readerFacts](memoReaders), circles: newLRU[*circleFacts](memoCircles)}
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
	m.turn++ // reads begun in between may have seen the old state
	for _, t := range all {
		switch t.Kind {
		case TouchedPost:
			m.posts.Remove(t.Key)
		case TouchedAuthor:
			m.authors.Remove(t.Key)
		case TouchedReader:
			m.readers.Remove(t.Key)
		case TouchedOwner:
			m.circles.Purge()
		case TouchedCircle:
			m.circles.Remove(t.Key)
		case TouchedLikes:
			if r, ok := m.readers.Peek(t.Key); ok {
				clear(r.liked)
			}
		}
	}
}
