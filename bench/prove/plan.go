package prove

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// kind names the call of a step.
type kind string

// The kinds of steps, in their share of the load: nine reads for each write.
const (
	read     kind = "read"
	publish  kind = "publish"
	follow   kind = "follow"
	unfollow kind = "unfollow"
	block    kind = "block"
	unblock  kind = "unblock"
	erase    kind = "delete"
)

// step is one call of the plan.
type step struct {
	n      int
	at     moment
	kind   kind
	a, b   string // who acts, and with whom
	device int
	more   bool          // a read of the next page
	only   bool          // a post for followers
	lost   bool          // the first answer is lost
	hangs  time.Duration // the client of the first attempt hangs up after this time; 0 for never
	pick   float64       // which of the possible posts
}

// plan draws all steps of a run.
func plan(o Options) []step {
	random := rand.New(rand.NewPCG(o.Seed, 1))
	var steps []step
	for at := moment(0); at < o.For; at += time.Duration(random.ExpFloat64() / o.Rate * float64(time.Second)) {
		s := step{n: len(steps), at: at, kind: draw(random), device: random.IntN(2), more: random.IntN(4) > 0, only: random.IntN(3) == 0, pick: random.Float64()}
		a := random.IntN(o.Agents)
		b := (a + 1 + random.IntN(o.Agents-1)) % o.Agents
		s.a, s.b = agent(a), agent(b)
		s.lost = random.Float64() < o.Lost
		if random.Float64() < o.Hangs {
			// From 0.2 to 50 ms, as many in each doubling: within fast calls, and within slow ones.
			s.hangs = time.Duration(float64(200*time.Microsecond) * math.Pow(250, random.Float64()))
		}
		steps = append(steps, s)
	}
	return steps
}

// draw draws a kind: 90 % reads and 10 % writes, half of which are posts.
func draw(random *rand.Rand) kind {
	n := random.IntN(200)
	switch {
	case n < 180:
		return read
	case n < 190:
		return publish
	case n < 193:
		return follow
	case n < 195:
		return unfollow
	case n < 196:
		return block
	case n < 197:
		return unblock
	}
	return erase
}

func agent(n int) string { return fmt.Sprintf("u%d", n) }

// post returns a post whose words no other post has, so that no system takes two for one story.
func post(key, author string, followers bool) Post {
	words := make([]string, 6)
	for i := range words {
		words[i] = fmt.Sprintf("%s%c", key, 'a'+i)
	}
	return Post{Key: key, Author: author, Text: strings.Join(words, " "), Followers: followers}
}

// beginning returns the follows and posts from before the load.
func beginning(o Options) (follows []pair, posts []Post) {
	random := rand.New(rand.NewPCG(o.Seed, 2))
	for a := range o.Agents {
		for _, b := range random.Perm(o.Agents - 1)[:o.Follows] {
			follows = append(follows, pair{agent(a), agent((a + 1 + b) % o.Agents)})
		}
	}
	for n := range o.Posts {
		posts = append(posts, post(fmt.Sprintf("old%d", n), agent(random.IntN(o.Agents)), random.IntN(3) == 0))
	}
	return follows, posts
}
