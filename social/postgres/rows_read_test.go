package postgres

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// bigAuthors creates authors of very many posts, with one audience each: n posts for everybody, p
// for followers, and c for a circle that has m as a member. All posts of c mention m and s. f
// follows all three. r and q have replied to a post of n and to one of p, respectively.
var bigAuthors = []string{
	// Within one transaction each post would create another row version of its author's counts.
	`ALTER TABLE posts DISABLE TRIGGER USER`,
	`INSERT INTO posts SELECT a || n, a, 1600000000 + n, reach, '', 'public', 'public', 1, 0, 0, 0, n, 0, 0, 0, 0, 0, 0, '{}', '{}', '{"caption":"x"}'
		FROM generate_series(1, 100000) n, (VALUES ('n', 2), ('p', 1), ('c', 0)) v (a, reach)`,
	`INSERT INTO posts SELECT a || n, a, 1600000000 + n, reach, '', 'public', 'public', 1, 0, 0, 0, n, 0, 0, 0, 0, 0, 0, '{}', '{}', '{"caption":"x"}', 0, root, 1
		FROM generate_series(1, 100000) n, (VALUES ('r', 3, 'n1'), ('q', 4, 'p1')) v (a, reach, root)`,
	`ALTER TABLE posts ENABLE TRIGGER USER`,
	`INSERT INTO post_counts VALUES ('n', 100000, 0, 0), ('p', 0, 100000, 100000), ('c', 0, 0, 100000)`,
	`INSERT INTO post_circles SELECT 'c' || n, 'cc', 'c', 1600000000 + n FROM generate_series(1, 100000) n`,
	`INSERT INTO post_mentions SELECT 'c' || n, a, 'c', 1600000000 + n FROM generate_series(1, 100000) n, (VALUES ('m'), ('s')) v (a)`,
	`INSERT INTO authors (id, name, has_card) SELECT v, v, true FROM unnest('{n,p,c,m,f,s,q}'::text[]) v`,
	`INSERT INTO follows SELECT 'f', v, 1, 0 FROM unnest('{n,p,c}'::text[]) v`,
	`INSERT INTO circles VALUES ('cc', 'c', '', 1, 0, 0, 1, 0)`,
	`INSERT INTO members VALUES ('cc', 'm', 1, 0)`,
	`VACUUM ANALYZE posts, post_circles, post_mentions, authors, follows, circles, members, post_counts`,
}

// TestRowsRead checks how many rows PostgreSQL reads for each statement of a call when authors
// have 100,000 posts: only those that the page shows, for any reader, and for cards no more than
// their bound.
func TestRowsRead(t *testing.T) {
	testenv.WithoutRace(t)
	s, tr := openTraced(t)
	pool := s.db.pool
	for _, text := range bigAuthors {
		_, err := pool.Exec(t.Context(), text)
		require.NoError(t, err, text)
	}
	const page, few = 51, 8 * 51 // few: a page of each source and of each of the three audiences, and each post's own row; 8 rows per tile to decide who may see it
	bounded := 6 * social.MaxAddressed
	for name, call := range readsOfMuch(s, page) {
		most := few
		if call.bounded {
			most = bounded
		}
		clear(tr.seen)
		require.NoError(t, call.run(t.Context()), name)
		require.NotEmpty(t, tr.seen, name)
		for text, args := range tr.seen {
			for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
				n := rowsRead(t, pool, mode, text, args)
				assert.LessOrEqual(t, n, most, "%s: %s reads %d rows: %s", name, mode, n, text)
			}
		}
	}
}

type reading struct {
	run     func(context.Context) error
	bounded bool // by [social.MaxAddressed]
}

// readsOfMuch returns the calls that could cost more as an author has more posts.
func readsOfMuch(s *Store, page int) map[string]reading {
	all := map[string]reading{
		"newest": {run: func(ctx context.Context) error {
			return last(s.Newest(ctx, []string{"n", "p", "c"}, social.Position{}, page))
		}},
		"public":  {run: func(ctx context.Context) error { return last(s.NewestPublic(ctx, page)) }},
		"members": {run: func(ctx context.Context) error { return last(s.MemberEntries(ctx, "cc", "m", social.Position{}, page)) }},
	}
	for _, reader := range []string{"", "s", "f", "m", "n", "p", "c", "r"} {
		all["replies for "+reader] = reading{run: func(ctx context.Context) error {
			return last(s.Replies(ctx, social.RepliesQuery{Reader: reader, Post: "n1", After: social.Position{At: 1600050000, ID: "x"}, N: page}))
		}}
		all["oldest replies for "+reader] = reading{run: func(ctx context.Context) error {
			return last(s.Replies(ctx, social.RepliesQuery{Reader: reader, Post: "p1", N: page, Oldest: true}))
		}}
		all["own replies of "+reader] = reading{run: func(ctx context.Context) error {
			return last(s.Replies(ctx, social.RepliesQuery{Reader: reader, Post: "n1", N: page, Own: true}))
		}}
		for _, author := range []string{"n", "p", "c", "r", "q"} {
			all["card of "+author+" for "+reader] = reading{func(ctx context.Context) error {
				_, err := s.Author(ctx, reader, author)
				return err
			}, true}
			all["posts of "+author+" for "+reader] = reading{run: func(ctx context.Context) error {
				return last(s.Grid(ctx, reader, author, social.Position{}, page))
			}}
			all["posts in the middle of "+author+" for "+reader] = reading{run: func(ctx context.Context) error {
				return last(s.Grid(ctx, reader, author, social.Position{At: 1600050000, ID: "x"}, page))
			}}
			if reader != "" {
				all["pair of "+author+" and "+reader] = reading{run: func(ctx context.Context) error {
					return last(s.PairEntries(ctx, author, reader, social.Position{}, page))
				}}
			}
		}
		if reader != "" {
			all["timeline of "+reader] = reading{run: func(ctx context.Context) error {
				return last(s.Pull(ctx, social.PullQuery{Reader: reader, N: page, Whole: true}))
			}}
		}
	}
	return all
}

func last[T any](_ T, err error) error { return err }

// scan is a node of an executed plan.
type scan struct {
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Removed float64 `json:"Rows Removed by Filter"`
	Index   float64 `json:"Rows Removed by Index Recheck"`
	Table   string  `json:"Relation Name"`
	Parts   []scan  `json:"Plans"`
}

func (s scan) rows() (n float64) {
	if s.Table != "" {
		n = (s.Rows + s.Removed + s.Index) * s.Loops
	}
	for _, part := range s.Parts {
		n += part.rows()
	}
	return n
}

// rowsRead runs a statement and returns the number of table and index rows it reads.
func rowsRead(t *testing.T, pool *pgxpool.Pool, mode, text string, args []any) int {
	t.Helper()
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	_, err = conn.Exec(t.Context(), "SET plan_cache_mode = "+mode)
	require.NoError(t, err)
	raw := explained(t, conn, "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)", text, args)
	var plans []struct{ Plan scan }
	require.NoError(t, json.Unmarshal([]byte(raw), &plans), raw)
	return int(plans[0].Plan.rows())
}
