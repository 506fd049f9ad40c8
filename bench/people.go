package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/freshet/freshet/social"
)

// people describes the network in which timelines are measured.
type people struct {
	authors, posts int // posts per author
	stars          int // authors whose posts are pulled
	readers        int // per kind
	followees      int // of a typical reader
	fans           int // followers of the most-followed author
}

func (b *bench) people() people {
	if b.o.Short {
		return people{authors: 400, posts: 5, stars: 3, readers: 20, followees: 50, fans: 60}
	}
	return people{authors: 10_000, posts: 100, stars: 10, readers: 200, followees: 300, fans: 10_000}
}

// many returns the sizes that do not exceed the number of authors.
func (p people) many(sizes ...int) (list []int) {
	for _, n := range sizes {
		if n <= p.authors {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		list = []int{p.authors}
	}
	return list
}

// Names of agents in the network. A reader of a kind follows that many authors.
func author(i int) string         { return fmt.Sprintf("a%d", i) }
func fan(i int) string            { return fmt.Sprintf("fan%d", i) }
func follower(kind, i int) string { return fmt.Sprintf("r%d_%d", kind, i) }
func starGazer(i int) string      { return fmt.Sprintf("s_%d", i) }
func followedBy(fans int) string  { return fmt.Sprintf("idol%d", fans) }
func names(n int, name func(int) string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = name(i)
	}
	return list
}

// few is the number of readers of each kind compared with a pull.
const few = 16

// fillNetwork writes the network into PostgreSQL, once per run. It queues no jobs: nothing is
// derived until a reader requests it.
func (b *bench) fillNetwork(ctx context.Context) error {
	if b.peopled {
		return nil
	}
	b.peopled = true
	p := b.people()
	b.progress("  putting in %d posts", p.authors*p.posts)
	s, err := b.serve(ctx, b.socialConfig(filepath.Join(b.dir, "network"))) // creates the tables
	if err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	total, now := p.authors*p.posts, time.Now().Unix()
	posts := func(id, author string, n int, at string) string {
		return fmt.Sprintf(`INSERT INTO posts SELECT 'post:%[1]s' || lpad(n::text, 10, '0'), %[2]s, %[4]s, %[5]d, '', 'public', 'public', 1, 0, 0, 0,
			%[4]s::bigint * 1000000, 0, 0, 0, 0, 0, 0, '{like}', '{}',
			'{"id":"post:%[1]s' || lpad(n::text, 10, '0') || '","created_at":' || (%[4]s) || ',"caption":"A few words of about the length that people write. #Like so, and not much more","tags":["like"],"audience":{"public":true},"reply":"public","react":"public"}'
			FROM generate_series(1, %[3]d) n`, id, author, n, at, social.ToAll)
	}
	texts := []string{
		posts("", fmt.Sprintf(`'a' || n::bigint * 7919 %% %d`, p.authors), total, fmt.Sprintf(`%d - (%d - n) / 20`, now-60, total)),
		posts("s", fmt.Sprintf(`'star' || n %% %d`, p.stars), p.stars*200, fmt.Sprintf(`%d - (%d - n) * 60`, now-60, p.stars*200)),
		fmt.Sprintf(`INSERT INTO authors (id, name, has_card) SELECT 'a' || n, 'Author ' || n, true FROM generate_series(0, %d) n`, p.authors-1),
		fmt.Sprintf(`INSERT INTO authors (id, name, has_card, followers, delivery) SELECT 'star' || n, 'Star ' || n, true, 1000000, 'pull' FROM generate_series(0, %d) n`, p.stars-1),
		fmt.Sprintf(`INSERT INTO follows SELECT 's_' || r, 'star' || n, 1, 0 FROM generate_series(0, %d) r, generate_series(0, %d) n`, p.readers-1, p.stars-1),
		fmt.Sprintf(`INSERT INTO follows SELECT 's_' || r, 'a' || (n + r * 37) %% %d, 1, 0 FROM generate_series(0, %d) r, generate_series(0, %d) n`,
			p.authors, p.readers-1, p.followees-p.stars-1),
	}
	for kind, readers := range b.kinds() {
		texts = append(texts, fmt.Sprintf(`INSERT INTO follows SELECT 'r%d_' || r, 'a' || (n + r * 37) %% %d, 1, 0 FROM generate_series(0, %d) r, generate_series(0, %d) n`,
			kind, p.authors, readers-1, kind-1))
	}
	for _, fans := range b.idols() {
		texts = append(texts,
			fmt.Sprintf(`INSERT INTO follows SELECT 'fan' || n, '%s', 1, 0 FROM generate_series(0, %d) n`, followedBy(fans), fans-1),
			fmt.Sprintf(`INSERT INTO authors (id, followers) VALUES ('%s', %d)`, followedBy(fans), fans))
	}
	texts = append(texts, `INSERT INTO authors (id, following) SELECT agent, count(*) FROM follows GROUP BY agent ON CONFLICT DO NOTHING`,
		`VACUUM ANALYZE posts`, `VACUUM ANALYZE follows`, `VACUUM ANALYZE authors`, `VACUUM ANALYZE jobs`)
	return b.exec(ctx, texts...)
}

// kinds returns the number of readers by the number of authors they follow.
func (b *bench) kinds() map[int]int {
	p := b.people()
	all := map[int]int{}
	for _, n := range append(p.many(pullSizes...), p.many(coldSizes...)...) {
		all[n] = few
	}
	all[p.followees] = p.readers
	return all
}

// idols returns the numbers of followers for which fan-out of posts and deletes is measured.
func (b *bench) idols() []int {
	fans := b.people().fans
	return []int{fans / 20, fans / 2, fans}
}
