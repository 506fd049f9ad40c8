package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social"
)

const (
	people      = 300
	fans        = 1080 // readers who do not post
	postsBefore = 600  // posts created before the demo starts
	postSpan    = 3 * 24 * time.Hour
	writers     = 16 // concurrent writes: the store commits them together
)

// famous holds the share of the fans who follow each of the best-known authors, so that some are
// celebrities.
var famous = []float64{0.99, 0.95, 0.4, 0.2}

// Only every third of the latest posts from before the demo has pictures: making them takes time.
const (
	latest   = 60
	pictured = 3
)

// readerPosts is the distance between two posts of readers among the posts from before the demo.
const readerPosts = 25

// Network is a generated network: authors, readers, and who follows whom. It is derived from a
// seed.
type Network struct {
	Authors []social.Author // the people, then the readers
	Follows [][2]string     // agent, author
	topics  []topic         // of the authors
}

// NewNetwork generates a network. Its readers are those of [Profiles], the authors, and fans who
// only follow.
func NewNetwork(seed uint64) *Network {
	r := rand.New(rand.NewPCG(seed, people))
	n := &Network{}
	for i := range people {
		at, surname := i%len(words.FirstNames), i/len(words.FirstNames)
		first, last := words.FirstNames[at], words.LastNames[surname%len(words.LastNames)]
		id, name := first+"."+last, capital(first)+" "+capital(last)
		again := surname / len(words.LastNames)
		if again > 0 {
			id, name = fmt.Sprintf("%s%d", id, again+1), fmt.Sprintf("%s %s", name, []string{"II", "III"}[again-1])
		}
		t := words.Topics[i%len(words.Topics)]
		n.topics = append(n.topics, t)
		n.Authors = append(n.Authors, social.Author{
			ID: id, Name: name, ImageURL: fmt.Sprintf("https://example.com/people/%d.jpg", i+1),
			Bio: "Mostly about " + strings.ReplaceAll(t.Tag, "-", " ") + ", from " + pick(r, words.Places) + ".",
		})
	}
	for i, name := range words.Readers {
		n.Authors = append(n.Authors, social.Author{ID: readerID(i), Name: name, Bio: "Reads this demo."})
	}
	n.follow(r)
	return n
}

func readerID(i int) string { return fmt.Sprintf("u_%d", i+1) }

// follow draws the follows at random.
func (n *Network) follow(r *rand.Rand) {
	for i := range fans {
		for at, share := range famous {
			if r.Float64() < share {
				n.add(fmt.Sprintf("fan_%d", i+1), at)
			}
		}
		n.draw(r, fmt.Sprintf("fan_%d", i+1), 1)
	}
	for _, a := range n.Authors[:people] {
		n.draw(r, a.ID, 5+r.IntN(10))
	}
	for i := range words.Readers {
		for at := range 4 + 3*i {
			n.Follows = append(n.Follows, [2]string{n.Authors[(7*i+at)%people].ID, readerID(i)})
		}
	}
	profiles := Profiles()
	for agent, p := range profiles {
		for at, t := range n.topics {
			if p.Interests[t.Tag] >= 3 && at < len(words.Topics)*4 {
				n.add(agent, at)
			}
		}
		n.add(agent, 0)
		n.add(agent, 1)
	}
	slices.SortFunc(n.Follows, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	n.Follows = slices.Compact(n.Follows)
}

// draw makes an agent follow some authors, the first ones more often.
func (n *Network) draw(r *rand.Rand, agent string, many int) {
	for range many {
		n.add(agent, n.popular(r))
	}
}

func (n *Network) popular(r *rand.Rand) int { return int(people * math.Pow(r.Float64(), 2)) }

func (n *Network) add(agent string, at int) {
	author := n.Authors[at].ID
	if author != agent {
		n.Follows = append(n.Follows, [2]string{agent, author})
	}
}

// Post returns the i-th post of a seed: mostly public, some for followers only.
func (n *Network) Post(seed, i uint64) social.Post {
	r := rand.New(rand.NewPCG(seed, i))
	at := n.popular(r)
	t := n.topics[at]
	s := subject{topic: t, lang: "en", who: pick(r, t.Who), what: pick(r, t.What), other: pick(r, t.What), place: pick(r, words.Places)}
	p := social.Post{
		Author: n.Authors[at].ID, Audience: social.Audience{Public: r.IntN(8) > 0},
		Caption: fill(r, pick(r, words.Headlines[t.Kind]), s) + "\n\n" + fill(r, pick(r, words.Summaries), s) + " #" + strings.ReplaceAll(t.Tag, "-", ""),
		Tags:    []string{t.Tag},
	}
	p.Audience.Followers = !p.Audience.Public
	return p
}

// Fill stores the network and its posts from before now. If pictures is nil, posts have no
// pictures. A store that already has the authors, as after a restart, is not changed.
func (n *Network) Fill(ctx context.Context, store social.Store, pictures Pictures, now time.Time) error {
	if info, err := store.Author(ctx, "", n.Authors[0].ID); err == nil && info.Name != "" {
		return nil
	}
	// Past follows are dated, as those of events are.
	began := now.Add(-2 * postSpan)
	var edges []social.Edge
	for _, f := range n.Follows {
		edges = append(edges, social.Edge{Agent: f[0], Author: f[1]})
	}
	for some := range slices.Chunk(edges, social.MaxEdges) {
		if _, _, err := store.FollowAll(ctx, some, began); err != nil {
			return err
		}
	}
	posts := n.before(now)
	// One after the other: the processor of images refuses calls that would wait for long.
	files := make([]int, len(posts))
	for i := len(posts) - latest; i < len(posts); i += pictured {
		var err error
		if files[i], err = illustrate(ctx, pictures, &posts[i], uint64(i)); err != nil {
			return err
		}
	}
	if err := safego.Each(ctx, len(posts), writers, func(ctx context.Context, i int) error {
		_, _, err := store.CreatePost(ctx, posts[i], social.Creation{At: time.Unix(posts[i].CreatedAt, 0), Files: files[i]})
		return err
	}); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(people, fans))
	liked := make([][2]string, 2*len(posts))
	for i := range liked {
		liked[i] = [2]string{fmt.Sprintf("fan_%d", 1+r.IntN(fans)), posts[int(float64(len(posts))*math.Sqrt(r.Float64()))].ID}
	}
	if err := safego.Each(ctx, len(liked), writers, func(ctx context.Context, i int) error { return n.like(ctx, store, liked[i][0], liked[i][1]) }); err != nil {
		return err
	}
	if err := safego.Each(ctx, len(n.Authors)-1, writers, func(ctx context.Context, i int) error {
		return store.PutAuthor(ctx, n.Authors[i+1], began)
	}); err != nil {
		return err
	}
	// The first author's profile is stored last: it marks the network as complete.
	return store.PutAuthor(ctx, n.Authors[0], began)
}

// like ignores posts that the reader may not see.
func (n *Network) like(ctx context.Context, store social.Store, agent, post string) error {
	_, _, err := store.Like(ctx, agent, post)
	if errors.Is(err, feed.ErrNotFound) {
		return nil
	}
	return err
}

// before returns the posts from before now, oldest first.
func (n *Network) before(now time.Time) []social.Post {
	r := rand.New(rand.NewPCG(people, 0))
	ages := make([]time.Duration, postsBefore)
	for i := range ages {
		ages[i] = time.Minute + time.Duration(float64(postSpan)*math.Pow(r.Float64(), 1.6))
	}
	slices.Sort(ages)
	slices.Reverse(ages)
	posts := make([]social.Post, len(ages))
	for i, age := range ages {
		posts[i] = n.Post(0, uint64(i))
		if i%readerPosts == readerPosts/2 {
			posts[i].Author = readerID(i / readerPosts % len(words.Readers))
		}
		posts[i].ID, posts[i].CreatedAt = fmt.Sprintf("%sdemo_%d", social.PostPrefix, i+1), now.Add(-age).Unix()
	}
	return posts
}

// Run publishes a post and likes one of the latest at each interval until ctx ends. A failed write
// is logged, and Run goes on.
func (n *Network) Run(ctx context.Context, store social.Store, every time.Duration, clock feed.Clock, log *slog.Logger) {
	var fresh []string
	for range periodic.Every(ctx, every) {
		i := uint64(clock().UnixMilli())
		p, _, err := store.CreatePost(ctx, n.Post(newsSeed, i), social.Creation{})
		if err == nil {
			fresh = append(fresh[max(0, len(fresh)-20):], p.ID)
			r := rand.New(rand.NewPCG(newsSeed, i))
			err = n.like(ctx, store, fmt.Sprintf("fan_%d", 1+r.IntN(fans)), pick(r, fresh))
		}
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "demo post was not stored", "error", err)
		}
	}
}
