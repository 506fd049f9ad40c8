package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

// TestMakersSeeWhatTheyDidOnOtherServers checks that agents see their change in the next call on
// another server, although the server that accepted it cannot reach the lists and no worker runs.
func TestMakersSeeWhatTheyDidOnOtherServers(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(k *link) (restore func()){
		"refused": func(k *link) func() { k.set(true); return func() { k.set(false) } },
		"held":    (*link).hold,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := withPostgres(t)
			brief(&cfg)
			cfg.Jobs.Workers = 0
			other := open(t, cfg)
			k := newLink(t, oneRedis(t)[0])
			cfg.DataDir, cfg.Redis.URL = t.TempDir(), "redis://"+k.l.Addr().String()
			s := open(t, cfg).network.fanout.Store()
			publish := func(author string, to social.Audience) string {
				p, _, err := s.CreatePost(t.Context(), social.Post{Author: author, Caption: "Hello", Audience: to}, social.Creation{})
				require.NoError(t, err)
				return p.ID
			}
			read := func(agent string) (ids []string) {
				page, err := other.network.timelines.Timeline(t.Context(), timeline.Request{Agent: agent, Limit: 100})
				require.NoError(t, err)
				for _, c := range page.Posts {
					ids = append(ids, c.ID)
				}
				return ids
			}
			socialtest.PutCircle(t, s, social.Circle{ID: "c", Owner: "ann"}, []string{"kim"}, time.Time{})
			public := publish("ann", social.Audience{Public: true})
			for _, agent := range []string{"publisher", "follower", "importer", "kim", "lee"} {
				_ = read(agent) // builds their list
			}
			t.Cleanup(lose(k))

			own := publish("publisher", social.Audience{})
			assert.Equal(t, []string{own}, read("publisher"))
			_, err := s.Follow(t.Context(), "follower", "ann", time.Time{})
			require.NoError(t, err)
			assert.Equal(t, []string{public}, read("follower"))
			_, _, err = s.FollowAll(t.Context(), []social.Edge{{Agent: "importer", Author: "ann"}}, time.Time{})
			require.NoError(t, err)
			assert.Equal(t, []string{public}, read("importer"))
			_, err = s.AddMember(t.Context(), "c", "lee", "ann", time.Time{})
			require.NoError(t, err)
			assert.Equal(t, []string{publish("ann", social.Audience{Circles: []string{"c"}})}, read("lee"))
			socialtest.PutCircle(t, s, social.Circle{ID: "c", Owner: "ann"}, []string{"kim", "lee"}, time.Time{})
			assert.Len(t, read("kim"), 1)
		})
	}
}
