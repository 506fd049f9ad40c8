package sqlstore

import (
	"context"
	"slices"
	"time"

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
	posts  []social.PostVersion
	turn   uint64
	now    int64 // stamp, by which mutes end

	facts      []cardFacts
	own        *readerFacts            // server, erased and circles of the reader
	circles    map[string]*circleFacts // that the posts address, by id
	newPost    map[string]*postFacts
	newTies    map[string]cardFacts // by author
	newLike    map[string]int64     // by post
	newCircles map[string]*circleFacts
	roots      *asking // for the root posts of replies; nil if there are none
}

// missing is what the memo lacks: ties to authors, circles, and likes by post.
type missing struct{ authors, circles, likes []string }

func (m missing) none() bool { return len(m.authors)+len(m.circles)+len(m.likes) == 0 }

// Cards returns the cards of [Store.Cards] from memory, and reads missing data.
func (m *Memo) Cards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	if len(posts) == 0 {
		return []social.Card{}, nil
	}
	if err := ctx.Err(); err != nil { // a read from memory would not notice
		return nil, m.store.failed(ctx, "read cards", err)
	}
	a, err := m.ask(ctx, reader, posts)
	if err != nil {
		return nil, m.store.failed(ctx, "read cards", err)
	}
	before := social.ReadBegan(ctx)
	if a.read() {
		before = time.Now() // what was read must have stayed as it was until then
	}
	if !m.valid(ctx, before) {
		return m.store.Cards(ctx, reader, posts)
	}
	ok := a.keep()
	if !ok && m.validate != nil && !a.read() { // what was evicted may concern others
		a, err = m.ask(ctx, reader, posts)
		ok = err == nil && !a.read() && a.keep()
	}
	if !ok {
		return m.store.Cards(ctx, reader, posts)
	}
	return a.answer(), nil
}

// valid brings the memo up to date with a time. It returns false if the memo must not be used.
func (m *Memo) valid(ctx context.Context, before time.Time) bool {
	return m.validate == nil || m.validate(ctx, before) == nil
}

// ask finds the data of cards, and of the root posts of replies.
func (m *Memo) ask(ctx context.Context, reader string, posts []social.PostVersion) (*asking, error) {
	a := &asking{memo: m, reader: reader, posts: posts, now: social.Stamp(m.store.opts.Clock()), facts: make([]cardFacts, len(posts)), circles: map[string]*circleFacts{}}
	err := a.find(ctx)
	roots := a.rootsOf()
	if err == nil && len(roots) > 0 {
		a.roots, err = m.ask(ctx, reader, roots)
	}
	return a, err
}

// read reports whether the memo lacked data, which was read.
func (a *asking) read() bool { return a.q != nil || a.roots != nil && a.roots.read() }

// rootsOf returns the root posts of the replies that were found.
func (a *asking) rootsOf() (roots []social.PostVersion) {
	for i := range a.facts {
		p := a.facts[i].post
		if p != nil && p.IsReply() {
			root := (social.PostVersion{ID: p.Root})
			if !slices.Contains(roots, root) {
				roots = append(roots, root)
			}
		}
	}
	return roots
}

// find finds the data of the cards, and reads what the memo lacks; a.q is nil if that is nothing.
func (a *asking) find(ctx context.Context) error {
	missing := a.findPosts()
	if len(missing) == 0 {
		if lacks, ok := a.findTies(); !ok || a.own != nil && lacks.none() {
			return nil
		}
	}
	return a.memo.store.read(ctx, func(q *Query) {
		a.q = q
		a.readPosts(missing)
		if lacks, ok := a.findTies(); ok && q.err == nil {
			a.readTies(lacks)
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

// findTies finds in the memo the relations between the reader and the posts' authors, and the
// circles that the posts address. It returns what must be read. ok is false if something was evicted
// in the meantime.
func (a *asking) findTies() (lacks missing, ok bool) {
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
		f.liked = liked
		if !has {
			lacks.likes = append(lacks.likes, f.post.ID)
		}
		lacks.circles = a.findCircles(lacks.circles, f.post)
		t, tied := own.authors[f.post.Author]
		author, found := a.memo.authors.Get(f.post.Author)
		f.ties, f.author = t, author
		if (!tied || !found) && !asked[f.post.Author] {
			asked[f.post.Author] = true
			lacks.authors = append(lacks.authors, f.post.Author)
		}
	}
	return lacks, a.current()
}

// findCircles finds the circles that a post addresses, and adds the ids of those that the memo lacks
// to a list. The memo is locked.
func (a *asking) findCircles(lacks []string, p *postFacts) []string {
	for _, id := range p.Audience.Circles {
		c, ok := a.memo.circles.Get(id)
		if ok {
			a.circles[id] = c
		} else if !slices.Contains(lacks, id) {
			lacks = append(lacks, id)
		}
	}
	return lacks
}

// current reports whether the data found is still valid. The memo is locked.
func (a *asking) current() bool { return !a.memo.committing && a.turn == a.memo.turn }

// keep stores the data read in the memo. It returns false if something was evicted since the first
// data was found.
func (a *asking) keep() bool {
	m := a.memo
	m.mu.Lock()
	defer m.mu.Unlock()
	if !a.current() || a.roots != nil && a.roots.turn != a.turn {
		return false
	}
	a.store()
	if a.roots != nil {
		a.roots.store()
	}
	return true
}

// store stores the data read. The memo is locked.
func (a *asking) store() {
	m := a.memo
	for id, p := range a.newPost {
		if len(p.content) <= memoContent {
			m.posts.Add(id, p)
		}
	}
	for id, c := range a.newCircles {
		m.circles.Add(id, c)
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
}

// answer returns the cards.
func (a *asking) answer() []social.Card {
	cards := make([]social.Card, len(a.posts))
	for i, known := range a.posts {
		cards[i].ID = known.ID
		f := &a.facts[i]
		if f.post != nil {
			a.card(&cards[i], f, known.Version)
		}
	}
	return cards
}

// card fills in the card of an existing post.
func (a *asking) card(c *social.Card, f *cardFacts, known int64) {
	p, d := f.post, a.decide(f, nil)
	if !d.Visible {
		return
	}
	_, _, _, named := a.addressed(f, nil)
	*c = social.Card{
		ID: p.ID, Visible: true, Version: p.Version, CreatedAt: p.CreatedAt, Arrived: p.arrived, Content: p.content,
		Author: social.Author{ID: p.Author, Name: f.author.name, ImageURL: f.author.image},
		Likes:  p.Likes, Comments: p.Comments, Likers: p.Likers, Commenters: p.Commenters, Root: p.Root, Public: p.Audience.Public && len(p.Grants) == 0,
		Replies: d.Replies, Reason: d.Reason, HasLiked: f.liked > p.deleted, CanReply: d.CanReply, CanReact: d.CanReact, Circles: named,
		Suspended: f.author.suspended > a.now, NotRecommended: f.author.notRecommended, Subscribed: d.Subscribed,
	}
	if p.Author == a.reader {
		c.Removed = p.removals
	}
	if p.Version == known {
		c.Content = nil
	}
}

// there reports whether the post exists: its author was not erased since.
func (f *cardFacts) there() bool { return f.post != nil && f.post.created > f.author.erased }

// decide applies the rules to a post. Groups that it, or a reply to it, was removed from do not
// count.
func (a *asking) decide(f *cardFacts, but []social.Removal) social.Decision {
	p := f.post
	if !f.there() {
		return social.Decision{}
	}
	member, muted, returns, _ := a.addressed(f, but)
	rel := social.Relation{
		Reader: a.reader, Follows: f.ties.followed > f.author.erased, FollowsServer: a.own.server, Blocked: f.ties.blocked,
		Member: member, Muted: muted, Returns: returns,
		Mentioned: slices.Contains(p.mentioned, grantOf(a.reader, a.own.erased)),
		Granted:   slices.Contains(p.Grants, grantOf(a.reader, a.own.erased)),
		OwnCircle: p.ownCircle && p.Author == a.reader,
	}
	if p.IsReply() {
		root := a.rootOf(p)
		if root == nil {
			return social.Decision{}
		}
		rel.RootExists, rel.Root = true, a.roots.decide(root, p.removals)
	}
	return social.Decide(&p.Post, rel)
}

// rootOf returns the root post of a reply; nil if it was deleted since.
func (a *asking) rootOf(p *postFacts) *cardFacts {
	if a.roots == nil {
		return nil
	}
	i := slices.IndexFunc(a.roots.posts, func(root social.PostVersion) bool { return root.ID == p.Root })
	root := &a.roots.facts[i]
	if root.post == nil {
		return nil
	}
	again, erased := root.post.deleted >= p.rootLife, root.post.created <= root.author.erased
	if again || erased {
		return nil
	}
	return root
}

// addressed reports whether the reader sees the post through a circle that it addresses, except
// those of removals, has muted all of these, and whether one of those mutes ends. It returns the
// circles to name to the reader; see [circlesOfPost].
func (a *asking) addressed(f *cardFacts, but []social.Removal) (member, muted, returns bool, named []social.CircleRef) {
	p, heard := f.post, false
	for i, id := range p.Audience.Circles {
		c, to := a.circles[id], p.addressed[i]
		if !c.has(p, to.incarnation) {
			continue
		}
		m, in := a.own.circles[id]
		sees := in && isPlaced(m.since, to.at)
		if sees && !removedFrom(but, id) {
			member, heard, returns = true, heard || !mutedAt(m.muteEnd, a.now), returns || m.muteEnd > 0
		}
		owns := c.owner == a.reader
		told := sees || p.Author == a.reader
		if told && (owns || !c.plain) {
			ref := social.CircleRef{ID: id}
			if owns || in {
				ref.Name = c.name
			}
			named = append(named, ref)
		}
	}
	return member, member && !heard, returns, sorted(named)
}

// has reports whether a post that addressed an incarnation of the circle still does.
func (c *circleFacts) has(p *postFacts, incarnation int64) bool {
	takes := c.owner == p.Author || !c.plain
	return c.there && takes && c.dropped < incarnation
}

// Celebrities returns the result of [Store.Celebrities] from memory, or reads it.
func (m *Memo) Celebrities(ctx context.Context, reader string) (social.Pulled, error) {
	if ctx.Err() != nil {
		return m.store.Celebrities(ctx, reader)
	}
	_, turn, found := m.pulledBy(reader)
	if found && m.valid(ctx, social.ReadBegan(ctx)) {
		if p, _, ok := m.pulledBy(reader); ok {
			return p, nil
		}
	}
	p, err := m.store.Celebrities(ctx, reader)
	if err != nil || found || !m.valid(ctx, time.Now()) {
		return p, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.committing && m.turn == turn && len(p.Authors) <= memoOfReader {
		m.pulled.Add(reader, p)
	}
	return p, nil
}

// pulledBy returns what the memo has for a reader.
func (m *Memo) pulledBy(reader string) (p social.Pulled, turn uint64, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, found = m.pulled.Get(reader)
	return p, m.turn, found && !m.committing
}
