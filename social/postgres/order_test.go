package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// Statements of the version before places, as its servers run them while others are upgraded.
const (
	olderPost = `INSERT INTO posts (id, author, created_at, reach, origin, reply, react, version, likes_here, likes_reported, comments_reported,
		created, deleted, caption_at, tags_at, alts_at, counted, here, gone, tags, grants, content, comments_here, repliers, root, root_life)
		VALUES ($1, 'o', $2::bigint / 1000000, 0, '', 'public', 'public', 1, 0, 0, 0, $2, 0, 0, 0, 0, 0, 0, 0, '{}', '{}', '{"caption":"x"}', 0, 0, '', 0)`
	olderAddress = `INSERT INTO post_circles (post, circle, author, created_at, incarnation)
		SELECT $1, c.id, 'o', $2::bigint / 1000000, c.put FROM circles c WHERE c.id = 'g'`
	olderMember = `INSERT INTO members (circle, agent, at, gone, incarnation, since) VALUES ('g', $1, $2, 0, 1, $2)
		ON CONFLICT (circle, agent) DO UPDATE SET at = excluded.at, gone = excluded.gone, incarnation = excluded.incarnation, since = excluded.since`
)

// orderStore is a store with the statements of an older version, and a clock.
type orderStore struct {
	*testing.T
	*Store
	now time.Time
}

func newOrderStore(t *testing.T) *orderStore {
	o := &orderStore{T: t, now: time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)}
	s, err := New(t.Context(), Config{URL: testenv.Postgres(t) + "&pool_max_conns=4"}, social.Options{Clock: func() time.Time { return o.now }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	o.Store = s
	return o
}

func (o *orderStore) exec(text string, args ...any) {
	o.Helper()
	_, err := o.db.pool.Exec(o.Context(), text, args...)
	require.NoError(o, err, text)
}

// older publishes a post to the group as an older version does, at a time.
func (o *orderStore) older(id string, at time.Time) {
	o.Helper()
	o.exec(olderPost, id, at.UnixMicro())
	o.exec(olderAddress, id, at.UnixMicro())
}

func (o *orderStore) sees(want bool, reader, post string) {
	o.Helper()
	list, err := o.Cards(o.Context(), reader, []social.PostVersion{{ID: post}})
	require.NoError(o, err)
	require.Equal(o, want, list[0].Visible, "%s sees %s", reader, post)
	entries, err := o.MemberEntries(o.Context(), "g", reader, social.Position{}, 50)
	require.NoError(o, err)
	listed := false
	for _, e := range entries {
		listed = listed || e.ID == post
	}
	require.Equal(o, want, listed, "%s lists %s", reader, post)
}

func (o *orderStore) group() {
	o.Helper()
	group := social.Circle{ID: "g", Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}
	_, err := o.PutCircle(o.Context(), group, []string{"m"}, time.Time{})
	require.NoError(o, err)
}

func (o *orderStore) join(agent string) {
	o.Helper()
	_, err := o.AddMember(o.Context(), "g", agent, "", time.Time{})
	require.NoError(o, err)
}

func (o *orderStore) post() string {
	o.Helper()
	p, _, err := o.CreatePost(o.Context(), social.Post{Author: "o", Caption: "x", Audience: social.Audience{Circles: []string{"g"}}}, social.Creation{})
	require.NoError(o, err)
	return p.ID
}

// TestOlderServersOrdered checks what servers of the version before write while others run this
// one, with clocks a minute apart: nobody sees a post from before they joined.
func TestOlderServersOrdered(t *testing.T) {
	for name, apart := range map[string]time.Duration{"ahead": time.Minute, "behind": -time.Minute, "equal": 0} {
		t.Run(name, func(t *testing.T) {
			o := newOrderStore(t)
			require.NoError(t, o.Migrate(t.Context()))
			o.group()
			o.now = o.now.Add(10 * time.Minute)
			theirs := func() time.Time { return o.now.Add(apart) }
			o.older("post:older", theirs())
			var arrived time.Duration
			require.NoError(t, o.db.pool.QueryRow(t.Context(), `SELECT extract(epoch FROM statement_timestamp()) * 1e9 - arrived * 1e3 FROM posts WHERE id = 'post:older'`).Scan(&arrived))
			require.InDelta(t, 0, arrived.Seconds(), 60, "by the clock of the database")
			o.join("a")
			newer := o.post()
			o.exec(olderMember, "b", theirs().UnixMicro())
			last := o.post()
			for reader, want := range map[string][3]bool{"o": {true, true, true}, "m": {true, true, true}, "a": {false, true, true}, "b": {false, false, true}} {
				for i, post := range []string{"post:older", newer, last} {
					o.sees(want[i], reader, post)
				}
			}
			// A repeated addition changes nothing.
			o.exec(`UPDATE members SET at = at + 1, since = since WHERE agent = 'b'`)
			o.sees(true, "b", last)
		})
	}
}

// TestMigrateKeepsGroups migrates a group with posts and members, and mentions, of the version
// before: all see the same, and are ordered from then on.
func TestMigrateKeepsGroups(t *testing.T) {
	o := newOrderStore(t)
	require.NoError(t, o.migrate(t.Context(), 9))
	ahead := o.now.Add(time.Hour)
	o.exec(`INSERT INTO circles (id, owner, name, put, dropped, replaced, size, gone, kind, post, history, members_visible_to)
		VALUES ('g', 'o', '', 1, 0, 0, 3, 0, 'group', 'members', 'joined', 'owner')`)
	o.exec(olderMember, "o", 2)
	o.exec(olderMember, "m", 2)
	o.older("post:first", o.now)
	o.exec(olderMember, "late", o.now.UnixMicro()+1)
	o.older("post:second", ahead)
	o.exec(`INSERT INTO authors (id, erased, erased_agent) VALUES ('again', $1, $1)`, o.now.UnixMicro())
	for _, post := range []string{"post:first", "post:second"} {
		o.exec(`INSERT INTO post_mentions (post, agent, author, created_at) VALUES ($1, 'again', 'o', 1), ($1, 'new', 'o', 1)`, post)
	}
	require.NoError(t, o.Migrate(t.Context()))
	o.join("next")
	for post, want := range map[string]map[string]bool{
		"post:first":  {"o": true, "m": true, "late": false, "next": false},
		"post:second": {"o": true, "m": true, "late": true, "next": false},
		o.post():      {"o": true, "m": true, "late": true, "next": true},
	} {
		for reader, sees := range want {
			o.sees(sees, reader, post)
		}
	}
	for post, want := range map[string]bool{"post:first": false, "post:second": true} {
		for agent, sees := range map[string]bool{"again": want, "new": true} {
			list, err := o.Cards(t.Context(), agent, []social.PostVersion{{ID: post}})
			require.NoError(t, err)
			require.Equal(t, sees, list[0].Visible, "%s is mentioned in %s", agent, post)
		}
	}
}
