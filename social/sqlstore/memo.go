package sqlstore

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/freshet/freshet/social"
)

// How much a [Memo] holds.
const (
	memoPosts   = 10_000
	memoContent = 4096 // bytes; a post with more is read each time
	memoAuthors = 10_000
	memoReaders = 500
	// memoOfReader bounds the authors, and the posts, of one reader.
	memoOfReader = 2000
)

// Memo holds in memory what cards are made of: posts, authors, and what readers have to
// do with them. A page of home asks about two hundred posts, of which hardly any has
// changed since the last time; SQLite takes thirty times as long to say so.
//
// It answers what one statement would: the database tells it before a transaction commits
// and, after it, what the transaction has touched. Where a transaction has ended while
// something was looked up, or one is committing, nothing is answered from it. So it holds
// only where one process writes.
type Memo struct {
	store      *Store
	mu         sync.Mutex
	committing bool
	turn       uint64 // counts beginnings and ends of commits that touched something
	posts      *lru.LRU[string, *postFacts]
	authors    *lru.LRU[string, *authorFacts]
	readers    *lru.LRU[string, *readerFacts]
}

// Touched is something of which a transaction changed what a [Memo] holds.
type Touched struct {
	Kind int
	Key  string
}

// What is touched.
const (
	TouchedPost    = iota + 1 // by id
	TouchedAuthor             // by id
	TouchedReader             // by agent: what they have to do with authors and circles
	TouchedLikes              // by agent
	TouchedReaders            // all: an owner of circles was erased
)

// postFacts are a post that is there, but for its author's erasure. They are never
// changed.
type postFacts struct {
	social.Post // as far as a card needs it
	created     int64
	rootLife    int64   // of a reply: when the life began of the post that it stands under
	deleted     int64   // when it was last, before it was made again
	addressed   []int64 // of each circle of its audience: the incarnation of it
	content     []byte
}

// authorFacts are the parts of a card that belong to its author. They are immutable.
type authorFacts struct {
	name, image string
	erased      int64
}

// readerFacts are a reader's relations to authors and posts.
type readerFacts struct {
	server  bool // follows [social.Server]
	erased  int64
	circles map[string]circleFacts // those the reader is in
	authors map[string]ties
	liked   map[string]int64 // the incarnation of each post that the reader likes, 0 for none; not in it: not known
}

// circleFacts are a circle, as far as the reader, a member, sees what is addressed to it.
type circleFacts struct {
	owner          string // of a group "": all who post to it are members
	dropped, since int64
}

// ties are a reader's to an author.
type ties struct {
	followed int64 // the stamp of the follow; 0: there is none
	blocked  bool
}

// NewMemo makes a memo that is empty, of a store whose dialect has PostFacts.
func NewMemo(s *Store) *Memo {
	return &Memo{store: s, posts: newLRU[*postFacts](memoPosts), authors: newLRU[*authorFacts](memoAuthors), readers: newLRU[*readerFacts](memoReaders)}
}

func newLRU[V any](size int) *lru.LRU[string, V] {
	l, err := lru.NewLRU[string, V](size, nil)
	if err != nil { // the size is not positive
		panic(err)
	}
	return l
}

// Begin is called before a transaction that touched something commits.
func (m *Memo) Begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.committing = true
	m.turn++
}

// End is called when it has ended, whether it holds or not.
func (m *Memo) End(all []Touched) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.committing = false
	m.turn++ // who began meanwhile may have read what was there before
	for _, t := range all {
		switch t.Kind {
		case TouchedPost:
			m.posts.Remove(t.Key)
		case TouchedAuthor:
			m.authors.Remove(t.Key)
		case TouchedReader:
			m.readers.Remove(t.Key)
		case TouchedReaders:
			m.readers.Purge()
		case TouchedLikes:
			if r, ok := m.readers.Peek(t.Key); ok {
				clear(r.liked)
			}
		}
	}
}
