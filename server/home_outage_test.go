package server

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// cutHome is a system with services that can each be cut off, and entries in each source of home.
// Two readers follow ann and bob.
type cutHome struct {
	*httpSystem
	clock *clock
	links map[string]*link
	met   map[string]bool // ids shown to u
}

func newCutHome(t *testing.T) *cutHome {
	cfg := withPostgres(t)
	h := &cutHome{clock: at(noon), links: map[string]*link{}, met: map[string]bool{}}
	h.cutsRedis(t, &cfg)
	h.cutsElastic(t, &cfg)
	h.cutsPostgres(t, &cfg)
	cfg.Ranking.Diversity = noDiversity
	shortTimeouts(&cfg)
	h.httpSystem = &httpSystem{t, open(t, cfg, WithClock(h.clock.Now))}
	for _, reader := range []string{"v", "w"} {
		for _, author := range []string{"ann", "bob"} {
			_, err := h.a.Social.Follow(t.Context(), reader, author, time.Time{})
			require.NoError(t, err)
		}
	}
	for _, reader := range []string{"u", "v", "w"} { // builds their lists
		h.call(reader, "GET", "/v1/timeline?limit=1", "")
	}
	require.NoError(t, h.a.Engine.PutProfile(t.Context(), "w", feed.Profile{Interests: map[string]float64{"rare": 1}}))
	fillHome(t, h.a)
	var trends []feed.Item
	for i := range 20 {
		trends = append(trends, feed.Item{ID: fmt.Sprint("t", i), Title: fmt.Sprintf("t%da t%[1]db t%[1]dc", i), UpdateTime: noon.Unix(), Likes: int64(50 - i)})
	}
	put(t, h.a, trends...)
	require.NoError(t, h.a.Social.PutPromotion(t.Context(), social.Promotion{
		ID: "ad", ItemID: "doc_39", From: noon.Unix(), Until: noon.Unix() + 3600, Weight: 1,
	}))
	require.NoError(t, h.a.network.promotions.Refresh(t.Context()))
	h.clock.Advance(5 * time.Minute)
	waitTrending(t, h.a)
	h.waitCached("post:ann_0", "post:ann_2", "post:bob_0", "post:bob_28")
	return h
}

func (h *cutHome) cutsRedis(t *testing.T, cfg *configs.Config) {
	h.links["redis"] = newLink(t, cfg.Redis.Server().Addrs[0])
	cfg.Redis.URL = "redis://" + h.links["redis"].l.Addr().String()
}

func (h *cutHome) cutsElastic(t *testing.T, cfg *configs.Config) {
	u, err := url.Parse(cfg.Elasticsearch.Addresses[0])
	require.NoError(t, err)
	h.links["elasticsearch"] = newLink(t, u.Host)
	cfg.Elasticsearch.Addresses = []string{"http://" + h.links["elasticsearch"].l.Addr().String()}
}

func (h *cutHome) cutsPostgres(t *testing.T, cfg *configs.Config) {
	u, err := url.Parse(cfg.Postgres.URL)
	require.NoError(t, err)
	h.links["postgres"] = newLink(t, u.Host)
	u.Host = h.links["postgres"].l.Addr().String()
	cfg.Postgres.URL = u.String()
}

// page requests a page of home, which must not repeat an item to the reader.
func (h *cutHome) page(action string, limit int) homeAnswer {
	h.Helper()
	page := home(h.T, h.a, "u", action, limit)
	for _, id := range page.ids() {
		assert.False(h, h.met[id], "%s comes again", id)
		h.met[id] = true
	}
	return page
}

func secret(id string) bool {
	return strings.HasPrefix(id, "post:") && (id[len(id)-1]-'0')%2 == 1
}

// TestHomeOutageOfEachService cuts off one service after the other: pages are delivered and report
// what they lack. When the service is back they lack nothing.
func TestHomeOutageOfEachService(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(*cutHome){"redis": (*cutHome).withoutRedis, "postgres": (*cutHome).withoutPostgres, "elasticsearch": (*cutHome).withoutElastic} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newCutHome(t)
			first := h.page("refresh", 20)
			require.Nil(t, first.Data.Degraded)
			require.Equal(t, "ffftfffdpfffftfffdtf", first.sources())
			require.NoError(t, h.a.clients.index.RecallForAll(t.Context(), h.a.indexUse(h.a.stores, h.a.ranking)), "as every minute")
			h.links[name].set(true)
			check(h)
			h.links[name].set(false)
			testenv.WaitFor(t, func() bool {
				h.clock.Advance(time.Second) // answers report an outage for a while afterwards
				page, err := askHome(t.Context(), h.a, "v", "refresh", 1)
				return err == nil && page.Data.Degraded == nil
			}, "home to lack nothing")
		})
	}
}

// withoutRedis checks home while the store proposes the posts and only this process knows the
// impressions.
func (h *cutHome) withoutRedis() {
	for _, action := range []string{"load_more", "refresh", "load_more"} {
		page := h.page(action, 10)
		assert.Equal(h, []string{"dedup", "session", "timeline"}, page.Data.Degraded, action)
		assert.Len(h, page.Data.Items, 10, action)
		for letter, least := range map[string]int{"f": 7, "t": 1, "d": 1} {
			assert.GreaterOrEqual(h, strings.Count(page.sources(), letter), least, "%s: %s", action, page.sources())
		}
	}
	page := home(h.T, h.a, "w", "refresh", 20)
	assert.Equal(h, "ffftfffdpfffftfffdtf", page.sources())
}

// withoutPostgres checks that cached public posts are shown, without fields about the reader.
func (h *cutHome) withoutPostgres() {
	for _, reader := range []string{"u", "u", "u", "v", "w", "stranger"} {
		action := []string{"load_more", "refresh"}[len(h.met)%2]
		page := home(h.T, h.a, reader, action, 20)
		assert.NotEmpty(h, page.Data.Items, reader)
		if reader == "stranger" { // it is unknown whom this reader follows
			assert.Equal(h, []string{"social", "following"}, page.Data.Degraded)
		} else {
			assert.Equal(h, []string{"social"}, page.Data.Degraded, reader)
			assert.Contains(h, page.sources(), "f", reader)
		}
		for _, it := range page.Data.Items {
			assert.False(h, secret(it.ID), "%s is shown to %s", it.ID, reader)
			assert.Nil(h, it.InFeed.Reason, it.ID)
			assert.False(h, reader == "u" && h.met[it.ID], "%s comes again", it.ID)
			h.met[it.ID] = h.met[it.ID] || reader == "u"
		}
	}
}

// withoutElastic checks that discovery uses the list for all readers, and that items are shown if
// their content is cached or in that list.
func (h *cutHome) withoutElastic() {
	for _, action := range []string{"load_more", "refresh"} {
		page := h.page(action, 20)
		assert.GreaterOrEqual(h, strings.Count(page.sources(), "f"), 14, "%s: %s", action, page.sources())
		assert.Subset(h, []string{"recall", "discovery", "catalog"}, page.Data.Degraded, action)
		if action == "refresh" {
			assert.Contains(h, page.Data.Degraded, "recall", "the list stands in")
		}
	}
	page := home(h.T, h.a, "w", "refresh", 20)
	assert.Contains(h, page.Data.Degraded, "recall")
	assert.Contains(h, page.sources(), "d")
	assert.GreaterOrEqual(h, strings.Count(page.sources(), "f"), 14, page.sources())
}
