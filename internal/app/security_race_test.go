package app

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/events"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/ranking"
)

// TestHiddenIsNeverOnALaterPage has one agent page through the feed on all
// servers while it hides items on the others: no page that is asked for after a
// hide has returned has the item, whatever was under way.
func TestHiddenIsNeverOnALaterPage(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			all := servers(t, m, nil)
			items := authored(800)
			put(t, all[0], items...)
			var mu sync.Mutex
			hidden := map[string]bool{}
			snapshot := func() map[string]bool {
				mu.Lock()
				defer mu.Unlock()
				before := make(map[string]bool, len(hidden))
				for id := range hidden {
					before[id] = true
				}
				return before
			}
			var paging, hiding sync.WaitGroup
			stop := make(chan struct{})
			for w := range 4 {
				paging.Go(func() {
					for i := 0; ; i++ {
						select {
						case <-stop:
							return
						default:
						}
						r := refresh("u_1", 5)
						switch i % 3 {
						case 1:
							r = loadMore("u_1", 5)
							r.RequestID = fmt.Sprint("r", i/2) // every other one is asked for again
						case 2:
							r.Silent = true
						}
						before := snapshot()
						answer, err := all[(i+w)%len(all)].Engine.Feed(t.Context(), r)
						if !assert.NoError(t, err) {
							return
						}
						for _, id := range ids(answer) {
							assert.False(t, before[id], "%s was hidden before this page was asked for", id)
						}
					}
				})
			}
			for w := range 2 {
				hiding.Go(func() {
					dice := rand.New(rand.NewPCG(uint64(w), 7))
					for i := range 40 {
						id := items[dice.IntN(len(items))].ID
						_, err := all[(i+w+1)%len(all)].Engine.React(t.Context(), "u_1", []engine.Act{act(events.Hide, id)})
						if !assert.NoError(t, err) {
							return
						}
						mu.Lock()
						hidden[id] = true
						mu.Unlock()
					}
				})
			}
			hiding.Wait()
			close(stop)
			paging.Wait()
			for _, a := range all {
				p, err := a.Engine.Profile(t.Context(), "u_1")
				require.NoError(t, err)
				for id := range hidden {
					require.Contains(t, p.MutedItems, id, "no hide is lost")
				}
			}
		})
	}
}

// TestProfilesAndHidesAtOnce has apps save interests, which know nothing of what
// is hidden, while the agent hides items, over HTTP and on all servers.
func TestProfilesAndHidesAtOnce(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			all := servers(t, m, nil)
			put(t, all[0], authored(60)...)
			var urls []string
			for _, a := range all {
				srv := httptest.NewServer(a.Handler)
				t.Cleanup(srv.Close)
				urls = append(urls, srv.URL)
			}
			n := make([]int, 4)
			var wg sync.WaitGroup
			for w := range 4 {
				wg.Go(func() {
					for i := range 10 {
						s := outsider{t, urls[(w+i)%len(urls)], &n[w]}
						if w < 3 {
							_, code, _ := s.call("POST", "/v1/events", fmt.Sprintf(`{"type":"hide","id":"doc_%04d"}`, 10*w+i), asU1)
							assert.Zero(t, code)
							continue
						}
						_, code, _ := s.call("PUT", "/v1/agents/u_1/profile", fmt.Sprintf(`{"interests":{"go":%d}}`, i+1), asU1)
						assert.Zero(t, code)
					}
				})
			}
			wg.Wait()
			for _, url := range urls {
				s := outsider{t, url, &n[0]}
				_, _, data := s.call("GET", "/v1/agents/u_1/profile", "", asU1)
				var p feed.Profile
				require.NoError(t, json.Unmarshal([]byte(data), &p))
				require.Equal(t, map[string]float64{"go": 10}, p.Interests)
				require.Len(t, p.MutedItems, 30, "no hide is lost")
			}
		})
	}
}

// TestRevertsAndChangesAtOnce leaves versions without a gap, and one ranking on
// all servers.
func TestRevertsAndChangesAtOnce(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			all := servers(t, m, nil)
			const each = 5
			var wg sync.WaitGroup
			var mu sync.Mutex
			made := []int{}
			for w := range 4 {
				wg.Go(func() {
					for i := range each {
						l := all[(w+i)%len(all)].ranking
						var version int
						if w%2 == 0 {
							v, err := l.Change(t.Context(), ranking.Change{By: fmt.Sprint("set ", w), Edit: func(r *feed.Ranking) error {
								r.Base = float64(1 + i)
								return nil
							}})
							assert.NoError(t, err)
							version = v.Version
						} else {
							v, err := l.Revert(t.Context(), 0, fmt.Sprint("revert ", w), "", nil)
							assert.NoError(t, err)
							assert.Equal(t, all[0].cfg.Parameters(), v.Live.Ranking)
							version = v.Version
						}
						mu.Lock()
						made = append(made, version)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			slices.Sort(made)
			for i, version := range made {
				require.Equal(t, i+1, version, "each call made a version of its own")
			}
			newest, err := all[0].stores.rankings.Newest(t.Context())
			require.NoError(t, err)
			require.Equal(t, 4*each, newest.Version)
			for _, a := range all {
				require.Eventually(t, func() bool { return a.ranking.InForce().Version == newest.Version }, time.Minute, time.Millisecond)
				require.Equal(t, newest.Live.Ranking, a.ranking.InForce().Live.Ranking)
			}
		})
	}
}

// TestTheIndicesBesideAreDeleted has somebody delete the indices of profiles and
// of the ranking under running servers: the configuration is in force again, and
// what is written next is written into indices as they are meant to be.
func TestTheIndicesBesideAreDeleted(t *testing.T) {
	t.Parallel()
	m := modes[1]
	var cfg configs.Config
	all := servers(t, m, func(c *configs.Config) {
		ownIndices(t, c)
		cfg = *c
	})
	dotted := feed.Profile{Interests: map[string]float64{"a.b": 1, "a.b.c": 2}, Keywords: feed.Keywords("x")}
	for _, a := range all {
		require.NoError(t, a.Engine.PutProfile(t.Context(), "u_0", feed.Profile{}))
		_, err := a.ranking.Change(t.Context(), ranking.Change{Edit: func(r *feed.Ranking) error { r.Base++; return nil }})
		require.NoError(t, err)
	}
	for _, index := range []string{esindex.Agents(cfg.Elasticsearch.Index), esindex.Rankings(cfg.Elasticsearch.Index)} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, cfg.Elasticsearch.Addresses[0]+"/"+index, nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 200, res.StatusCode)
	}
	for i, a := range all {
		require.Eventually(t, func() bool { return a.ranking.InForce().Version == 0 || i > 0 }, time.Minute, time.Millisecond)
	}
	for i, a := range all {
		agent := fmt.Sprint("u_", i)
		require.NoError(t, a.Engine.PutProfile(t.Context(), agent, dotted), "server %d", i)
		react(t, a, agent, act(events.Hide, "doc_1"))
		p, err := a.Engine.Profile(t.Context(), agent)
		require.NoError(t, err)
		require.Equal(t, dotted.Interests, p.Interests)
		v, err := a.ranking.Change(t.Context(), ranking.Change{Edit: func(r *feed.Ranking) error { r.Base++; return nil }})
		require.NoError(t, err)
		require.Equal(t, i+1, v.Version)
	}
	for _, index := range []string{esindex.Agents(cfg.Elasticsearch.Index), esindex.Rankings(cfg.Elasticsearch.Index)} {
		res, err := http.Get(cfg.Elasticsearch.Addresses[0] + "/" + index + "/_mapping")
		require.NoError(t, err)
		var mapping map[string]struct {
			Mappings struct{ Properties map[string]json.RawMessage }
		}
		require.NoError(t, json.NewDecoder(res.Body).Decode(&mapping))
		require.NoError(t, res.Body.Close())
		require.Contains(t, mapping, index)
		require.Empty(t, mapping[index].Mappings.Properties, "Elasticsearch made a field of what it was given")
	}
}
