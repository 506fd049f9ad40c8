package sqlstore

import (
	"context"
	"slices"

	"github.com/freshet/freshet/social"
)

// cardFacts are the parts of one card.
type cardFacts struct {
	post   *postFacts // nil if it does not exist
	author *authorFacts
	ties   ties
	liked  int64
}

// asking is one call of [Memo.Cards].
type asking struct {
	memo   *Memo
	q      *Query
	reader string
	posts  []social.Known
	turn   uint64

	facts   []cardFacts
	own     *readerFacts // server, erased and circles of the reader
	newPost map[string]*postFacts
	newTies map[string]cardFacts // by author
	newLike map[string]int64     // by post
	roots   *asking              // for the root posts of replies; nil if there are none
}

// Cards returns the cards of [Store.Cards] from memory, and reads missing data.
func (m *Memo) Cards(ctx context.Context, reader string, posts []social.Known) ([]social.Card, error) {
	if len(posts) == 0 {
		return []social.Card{}, nil
	}
	if err := ctx.Err(); err != nil { // a read from memory would not notice
		return nil, m.store.failed(ctx, "read cards", err)
	}
	a, ok, err := m.ask(ctx, reader, posts)
	if roots := a.rootsOf(); ok && len(roots) > 0 {
		a.roots, ok, err = m.ask(ctx, reader, roots)
	}
	switch {
	case err != nil:
		return nil, m.store.failed(ctx, "read cards", err)
	case !ok:
		return m.store.Cards(ctx, reader, posts)
	}
	return a.answer(), nil
}

// ask finds the data of cards; ok is false if a transaction ended in the meantime.
func (m *Memo) ask(ctx context.Context, reader string, posts []social.Known) (a *asking, ok bool, err error) {
	a = &asking{memo: m, reader: reader, posts: posts, facts: make([]cardFacts, len(posts))}
	if err = a.find(ctx); err != nil {
		return a, false, err
	}
	return a, a.keep(), nil
}

// rootsOf returns the root posts of the replies that were found.
func (a *asking) rootsOf() (roots []social.Known) {
	for i := range a.facts {
		if p := a.facts[i].post; p != nil && p.IsReply() {
			if root := (social.Known{ID: p.Root}); !slices.Contains(roots, root) {
				roots = append(roots, root)
			}
		}
	}
	return roots
}

// find finds the data of the cards, and reads what the memo lacks.
func (a *asking) find(ctx context.Context) error {
	missing := a.findPosts()
	if len(missing) == 0 {
		if authors, likes, ok := a.findTies(); !ok || a.own != nil && len(authors)+len(likes) == 0 {
			return nil
		}
	}
	return a.memo.store.read(ctx, func(q *Query) {
		a.q = q
		a.readPosts(missing)
		if authors, likes, ok := a.findTies(); ok && q.err == nil {
			a.readTies(authors, likes)
		}
	})
}

// findPosts finds the posts in the memo, and returns the ids of the others.
func (a *asking) findPosts() (missing []string) {
	a.memo.mu.Lock()
	defer a.memo.mu.Unlock()
	a.turn = a.memo.turn
	for i, p := range a.posts {
		f, ok := a.memo.posts.Get(p.ID)
		if !ok {
			missing = append(missing, p.ID)
		}
		a.facts[i].post = f
	}
	return missing
}

// findTies finds in the memo the relations between the reader and the posts' authors. It returns
// the authors and, for likes, the posts that must be read. ok is false if a transaction ended in
// the meantime.
func (a *asking) findTies() (authors, likes []string, ok bool) {
	a.memo.mu.Lock()
	defer a.memo.mu.Unlock()
	own, known := a.memo.readers.Get(a.reader)
	if known {
		a.own = &readerFacts{server: own.server, erased: own.erased, circles: own.circles}
	} else {
		own = &readerFacts{}
	}
	asked := map[string]bool{}
	for i := range a.facts {
		f := &a.facts[i]
		if f.post == nil {
			continue
		}
		liked, has := own.liked[f.post.ID]
		if f.liked = liked; !has {
			likes = append(likes, f.post.ID)
		}
		t, tied := own.authors[f.post.Author]
		author, found := a.memo.authors.Get(f.post.Author)
		if f.ties, f.author = t, author; (!tied || !found) && !asked[f.post.Author] {
			asked[f.post.Author] = true
			authors = append(authors, f.post.Author)
		}
	}
	return authors, likes, a.current()
}

// current reports whether the data found is still valid. The memo is locked.
func (a *asking) current() bool { return !a.memo.committing && a.turn == a.memo.turn }

// keep stores the data read in the memo. It returns false if a transaction ended in the meantime.
func (a *asking) keep() bool {
	m := a.memo
	m.mu.Lock()
	defer m.mu.Unlock()
	if !a.current() {
		return false
	}
	for id, p := range a.newPost {
		if len(p.content) <= memoContent {
			m.posts.Add(id, p)
		}
	}
	own, ok := m.readers.Get(a.reader)
	if !ok {
		own = &readerFacts{server: a.own.server, erased: a.own.erased, circles: a.own.circles, authors: map[string]ties{}, liked: map[string]int64{}}
		m.readers.Add(a.reader, own)
	}
	if len(own.authors)+len(a.newTies) > memoOfReader {
		clear(own.authors)
	}
	for id, f := range a.newTies {
		m.authors.Add(id, f.author)
		own.authors[id] = f.ties
	}
	if len(own.liked)+len(a.newLike) > memoOfReader {
		clear(own.liked)
	}
	for id, liked := range a.newLike {
		own.liked[id] = liked
	}
	return true
}

// answer returns the cards.
func (a *asking) answer() []social.Card {
	cards := make([]social.Card, len(a.posts))
	for i, known := range a.posts {
		cards[i].ID = known.ID
		if f := &a.facts[i]; f.post != nil {
			a.card(&cards[i], f, known.Version)
		}
	}
	return cards
}

// card fills in the card of an existing post.
func (a *asking) card(c *social.Card, f *cardFacts, known int64) {
	p, d := f.post, a.decide(f)
	if !d.Visible {
		return
	}
	*c = social.Card{
		ID: p.ID, Visible: true, Version: p.Version, CreatedAt: p.CreatedAt, Content: p.content,
		Author: social.Author{ID: p.Author, Name: f.author.name, ImageURL: f.author.image},
		Likes:  p.Likes, Comments: p.Comments, Commenters: p.Commenters, Root: p.Root, Public: p.Audience.Public && len(p.Grants) == 0,
		Replies: d.Replies, Reason: d.Reason, HasLiked: f.liked > p.deleted, CanReply: d.CanReply, CanReact: d.CanReact,
	}
	if p.Version == known {
		c.Content = nil
	}
}

// there reports whether the post exists: its author was not erased since.
func (f *cardFacts) there() bool { return f.post != nil && f.post.created > f.author.erased }

// decide applies the rules to a post.
func (a *asking) decide(f *cardFacts) social.Decision {
	p := f.post
	if !f.there() {
		return social.Decision{}
	}
	rel := social.Relation{
		Reader: a.reader, Follows: f.ties.followed > f.author.erased, FollowsServer: a.own.server, Blocked: f.ties.blocked,
		Member:    a.member(f),
		Mentioned: p.created > a.own.erased && slices.Contains(p.Mentions, a.reader),
		Granted:   p.created > a.own.erased && slices.Contains(p.Grants, a.reader),
		OwnCircle: p.ownCircle && p.Author == a.reader,
	}
	if a.roots != nil && p.IsReply() {
		i := slices.IndexFunc(a.roots.posts, func(root social.Known) bool { return root.ID == p.Root })
		if root := &a.roots.facts[i]; root.there() && root.post.deleted < p.rootLife {
			rel.RootExists, rel.Root = true, a.roots.decide(root)
		}
	}
	return social.Decide(&p.Post, rel)
}

// member reports whether the reader is in a circle that the post addresses.
func (a *asking) member(f *cardFacts) bool {
	for i, id := range f.post.Audience.Circles {
		c, in := a.own.circles[id]
		if in && (c.owner == "" || c.owner == f.post.Author) && c.dropped < f.post.addressed[i] &&
			c.since < f.post.created && c.since/1e6 <= f.post.CreatedAt {
			return true
		}
	}
	return false
}
