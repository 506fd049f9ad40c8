package sqlstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// CreatePost implements [social.Posts].
func (s *Store) CreatePost(ctx context.Context, p social.Post, c social.Creation) (post social.Written, created bool, err error) {
	fresh := p.ID == "" // a generated id cannot exist yet
	if err := complete(&p, c, s.opts.Clock()); err != nil {
		return social.Written{}, false, err
	}
	err = s.write(ctx, func(t *Tx) {
		t.lowerIfOld(c.At)
		post = social.Written{}
		post.Post, created = t.createOnce(p, c, fresh)
		if created {
			t.useFiles(post.ID, c.Files)
		}
		if c.At.IsZero() {
			t.cardLater(&post.Card, p.Author, &post.Post)
		}
	})
	if err != nil {
		return social.Written{}, false, s.failed(ctx, "create post", err)
	}
	return post, created, nil
}

// complete fills in and checks the parameters of a creation.
func complete(p *social.Post, c social.Creation, now time.Time) error {
	if c.Key != "" {
		if err := social.CheckKey(c.Key); err != nil {
			return err
		}
	}
	if err := social.CheckTime(c.At, now); err != nil {
		return err
	}
	if c.At.IsZero() {
		if p.ID == "" {
			id, err := social.NewPostID(now, rand.Reader)
			if err != nil {
				return err
			}
			p.ID = id
		}
		if p.CreatedAt == 0 {
			p.CreatedAt = now.Unix()
		}
	} else if p.CreatedAt > now.Unix() {
		if err := social.CheckTime(time.Unix(p.CreatedAt, 0), now); err != nil {
			return feed.Errorf(feed.ErrRule, "bad post: created_at: %w", err)
		}
		p.CreatedAt = now.Unix() // otherwise a sender's clock would place it above newer posts
	}
	p.Normalize()
	p.Root = ""
	return p.Validate(now)
}

// createOnce creates a post, unless one was created with its key; it returns that instead.
func (t *Tx) createOnce(p social.Post, c social.Creation, fresh bool) (post social.Post, created bool) {
	author := t.agent(doing, p.Author)
	if c.Key != "" {
		post, used, err := t.useKey(p, c.Key, author.ErasedAgent)
		if err != nil {
			return social.Post{}, t.fail(err)
		}
		if used {
			return post, false
		}
	}
	return t.create(p, c.At, author, fresh)
}

// create creates a post as of a time, or now, unless there is one that this does not supersede.
func (t *Tx) create(p social.Post, reported time.Time, author *agent, fresh bool) (post social.Post, created bool) {
	r, err := t.loadOwn(&p, fresh)
	if err != nil {
		return social.Post{}, t.fail(err)
	}
	erased := author.Erased
	at, here := social.ChangeTime(reported, t.now, max(r.Latest(), erased)), reported.IsZero()
	if here && r.Alive() {
		return r.Post, false
	}
	life, under := r.rootLife, r.under
	var to []circle
	if at > max(erased, r.Times.Created, r.Times.Deleted) { // else it is a repetition, or late
		to, err = t.checkPlace(&p, r, at, here, author.ErasedAgent)
	}
	if err != nil {
		return social.Post{}, t.fail(err)
	}
	if r.Alive() && r.Post.IsReply() {
		t.lockRoots(p.ID)
	}
	if r.Times.Created <= erased {
		t.overtake(r, erased)
	}
	t.keepRemoved(&p, r)
	was, before, again := *r, r.found, r.Times.Created > 0 && !r.Alive()
	was.rootLife, was.under = life, under
	keeps := r.Alive() && r.commentsHere > 0 && !r.Post.Audience.Public // its replies are not for everybody
	var kept []string
	if keeps {
		p.Narrow(&r.Post)
		kept = was.grants
	}
	stored := false
	if at > erased {
		stored = r.Create(p, at)
	}
	if !stored {
		if r.Alive() && r.Times.Created > erased {
			return r.Post, false
		}
		return social.Post{}, t.fail(fmt.Errorf("%s was deleted: %w", p.ID, feed.ErrNotFound))
	}
	if was.Alive() {
		t.replaced(&was, &p)
	}
	if again {
		r.likesHere, r.commentsHere, r.repliers, r.ownLike, r.ownReply = 0, 0, 0, 0, 0
		t.revived(&p)
	}
	r.counts()
	r.arrives = !was.Alive()
	r.grants = t.grant(r, here, kept)
	t.save(r)
	if keeps {
		t.narrow(r)
	} else {
		t.address(r, to, before, here)
	}
	t.announce(r, author)
	t.changePost(r, &was)
	return r.Post, true
}

// changePost notes a new post, or one that an event has replaced, and whom it mentions now.
func (t *Tx) changePost(r, was *record) {
	p := &r.Post
	made := social.Change{Type: social.PostMade, Agent: p.Author, Object: p.ID}
	before := []string(nil)
	switch {
	case was.Alive():
		made.Type, before = social.PostEdited, was.Post.Mentions
	case p.IsReply():
		made.Type, made.Other, made.Parent = social.ReplyMade, r.answered, p.ReplyTo
	}
	t.change(made)
	var mentioned []string
	for _, agent := range p.Mentions {
		if !slices.Contains(before, agent) {
			t.change(social.Change{Type: social.MentionMade, Agent: p.Author, Other: agent, Object: p.ID})
			mentioned = append(mentioned, agent)
		}
	}
	t.tellPost(p, made.Other, mentioned)
}

// announce counts a new reply, or has a new post delivered.
func (t *Tx) announce(r *record, author *agent) {
	if r.Post.IsReply() {
		t.comment(r)
	} else {
		t.published(&r.Post, author.Followers)
	}
}

// loadOwn reads the record of a post to create, unless a fresh id cannot have one. A record of another
// author is an error.
func (t *Tx) loadOwn(p *social.Post, fresh bool) (*record, error) {
	if fresh {
		return &record{}, nil
	}
	r := t.load(p.ID)
	if r.Post.Author != "" && r.Post.Author != p.Author {
		return nil, feed.Errorf(feed.ErrForbidden, "%s belongs to another author: not allowed", p.ID)
	}
	return r, nil
}

// checkPlace checks where a post is made at a stamp: in circles, which it returns for a post made
// here, or under another post.
func (t *Tx) checkPlace(p *social.Post, r *record, at int64, here bool, erased int64) (to []circle, err error) {
	if here {
		to, err = t.checkCircles(p, erased)
	}
	switch {
	case err != nil, p.ReplyTo == "":
	case here:
		err = t.resolveRoot(p, r)
	default:
		err = t.resolveReported(p, r, at)
	}
	return to, err
}

// overtake removes what an erasure has not removed yet.
func (t *Tx) overtake(r *record, erased int64) {
	if r.Alive() {
		t.delete(r, erased)
	}
	t.forgetRemovals(r)
}

// replaced ends what an event has replaced by another post: a reply under its root, or the item of a
// post that is no longer public.
func (t *Tx) replaced(was *record, by *social.Post) {
	t.uncomment(was)
	if !by.Audience.Public {
		t.indexed(&was.Post, jobs.PriorityRemoval)
	}
}

// useKey returns the post that was created with the key before, or stores the key. The second of
// two concurrent calls waits. Keys from before the author's erasure are another agent's.
func (t *Tx) useKey(p social.Post, key string, erased int64) (post social.Post, used bool, err error) {
	asked := social.Fingerprint(p)
	over := max(social.Stamp(t.now.Add(-social.KeyLives)), erased)
	stored := t.exec(`INSERT INTO post_keys AS k (author, key, post, print, at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (author, key) DO UPDATE SET post = excluded.post, print = excluded.print, at = excluded.at WHERE k.at <= $6`,
		p.Author, key, p.ID, asked, max(social.Stamp(t.now), erased+1), over)
	if stored > 0 {
		return social.Post{}, false, nil
	}
	var id, earlier string
	var at int64
	found := t.row(into(&id, &earlier, &at), `SELECT post, print, at FROM post_keys WHERE author = $1 AND key = $2`, p.Author, key)
	switch {
	case !found:
		return social.Post{}, false, fmt.Errorf("%w: the key was purged", ErrRaced)
	case earlier != asked:
		return social.Post{}, false, feed.Errorf(feed.ErrConflict, "the Idempotency-Key was used for another post within a day; use a new one")
	}
	r := t.records(free, []string{id})[id]
	if r == nil || !r.Alive() || r.Times.Deleted > at {
		return social.Post{}, false, fmt.Errorf("%s was deleted: %w", id, feed.ErrNotFound)
	}
	return r.Post, true, nil
}

// checkCircles returns the circles of a post, or an error if the author may not post to one of them.
// erased is the stamp up to which the author is erased.
func (t *Tx) checkCircles(p *social.Post, erased int64) (to []circle, err error) {
	if len(p.Audience.Circles) == 0 {
		return nil, nil
	}
	takes := map[string]error{}
	t.each(func(scan Scan) error {
		var c circle
		var member bool
		err := scan(append(columnsOf(&c.Circle), &c.ID, &c.put, &member)...)
		takes[c.ID], to = c.CheckAuthor(p.Author, member, t.now), append(to, c)
		return err
	}, `SELECT `+circleColumns+`, c.id, c.put,
		coalesce((SELECT m.at FROM members m WHERE m.circle = c.id AND m.agent = $2 AND m.gone = 0), 0) > $3
		FROM circles c WHERE c.id `+ofList+` AND `+circleThere, p.Audience.Circles, p.Author, erased)
	for _, id := range p.Audience.Circles {
		refused, there := takes[id]
		if !there {
			refused = (&social.Circle{ID: id}).CheckAuthor(p.Author, false, t.now)
		}
		if refused != nil {
			return nil, refused
		}
	}
	return to, nil
}

// published marks the jobs of a new post.
func (t *Tx) published(p *social.Post, followers int64) {
	receivers := int64(len(p.Mentions))
	if p.Audience.Reach() >= social.ToFollowers {
		receivers += followers
	}
	if len(p.Audience.Circles) > 0 {
		var members int64
		t.row(into(&members), `SELECT coalesce(sum(size), 0) FROM circles WHERE id `+ofList, p.Audience.Circles)
		receivers += members
	}
	t.enqueue(jobs.Spec{Kind: jobs.Deliver, Key: p.ID, Priority: jobs.PriorityFor(receivers)})
	t.indexed(p, jobs.PriorityLater)
}

// indexed marks the item of a post, if it has one.
func (t *Tx) indexed(p *social.Post, priority int) {
	if p.Audience.Public {
		t.enqueue(jobs.Spec{Kind: jobs.Index, Key: p.ID, Priority: priority})
	}
}

// PostsByID implements [social.Posts].
func (s *Store) PostsByID(ctx context.Context, ids []string) ([]social.Post, error) {
	posts := make([]social.Post, len(ids))
	err := s.read(ctx, func(q *Query) {
		list := q.records(free, ids)
		for i, id := range ids {
			r := list[id]
			if r != nil && r.Post.Author != "" {
				posts[i] = r.Post
			}
		}
	})
	if err != nil {
		return nil, s.failed(ctx, "read posts", err)
	}
	return posts, nil
}

// PostStates implements [social.Posts].
func (s *Store) PostStates(ctx context.Context, ids []string) ([]social.PostState, error) {
	states := make([]social.PostState, len(ids))
	err := s.read(ctx, func(q *Query) {
		list := make(map[string]social.PostState, len(ids))
		q.each(func(scan Scan) error {
			var id string
			var st social.PostState
			err := scan(&id, &st.Version, &st.Likes, &st.Comments, &st.Likers, &st.Commenters, &st.NotRecommended)
			list[id] = st
			return err
		}, `SELECT p.id, p.version, `+counted+`, `+notRecommended+` FROM posts p WHERE p.id `+ofList+` AND p.author <> ''`, ids)
		for i, id := range ids {
			states[i] = list[id]
		}
	})
	if err != nil {
		return nil, s.failed(ctx, "read states of posts", err)
	}
	return states, nil
}
