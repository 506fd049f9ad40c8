package sqlite

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/freshet/freshet/social"
)

// How much a [memo] holds.
const (
	memoPosts   = 10_000
	memoContent = 4096 // bytes; a post with more is read each time
	memoAuthors = 10_000
	memoReaders = 500
	// memoOfReader bounds the authors, and the posts, of one reader.
	memoOfReader = 2000
)

// memo holds in memory what cards are made of: posts, authors, and what readers have to
// do with them. A page of home asks about two hundred posts, of which hardly any has
// changed since the last time; SQLite takes thirty times as long to say so.
//
// It answers what one statement would: [writer.run] tells it before a transaction commits
// and, after it, what the transaction has touched. Where a transaction has ended while
// something was looked up, or one is committing, nothing is answered from it. It is told
// by the only writer of the file, so it holds only while one process has the file open.
type memo struct {
	mu         sync.Mutex
	committing bool
	turn       uint64 // counts beginnings and ends of commits that touched something
	posts      *lru.LRU[string, *postFacts]
	authors    *lru.LRU[string, *authorFacts]
	readers    *lru.LRU[string, *readerFacts]
}

// postFacts are a post that is there, but for its author's erasure. They are never
// changed.
type postFacts struct {
	social.Post // as far as a card needs it
	created     int64
	content     []byte
}

// authorFacts are the parts of a card that belong to its author. They are immutable.
type authorFacts struct {
	name, image string
	erased      int64
}

// readerFacts are a reader's relations to authors and posts.
type readerFacts struct {
	server  bool              // follows [social.Server]
	circles map[string]string // those the reader is in, and their owners
	authors map[string]ties
	liked   map[string]bool // by post; not in it: not known
}

// ties are a reader's to an author.
type ties struct{ follows, blocked bool }

func newMemo() *memo {
	return &memo{posts: newLRU[*postFacts](memoPosts), authors: newLRU[*authorFacts](memoAuthors), readers: newLRU[*readerFacts](memoReaders)}
}

func newLRU[V any](size int) *lru.LRU[string, V] {
	l, err := lru.NewLRU[string, V](size, nil)
	if err != nil { // the size is not positive
		panic(err)
	}
	return l
}

// begin is called before a transaction that touched something commits.
func (m *memo) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.committing = true
	m.turn++
}

// end is called when it has ended, whether it holds or not.
func (m *memo) end(all []touched) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.committing = false
	m.turn++ // who began meanwhile may have read what was there before
	for _, t := range all {
		switch t.kind {
		case touchedPost:
			m.posts.Remove(t.key)
		case touchedAuthor:
			m.authors.Remove(t.key)
		case touchedReader:
			m.readers.Remove(t.key)
		case touchedLikes:
			if r, ok := m.readers.Peek(t.key); ok {
				clear(r.liked)
			}
		}
	}
}
