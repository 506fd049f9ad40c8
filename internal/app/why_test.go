package app

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// TestWhyInBothModes asks whole systems why the items of their pages are there:
// they say the same, of items and of posts.
func TestWhyInBothModes(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg := m.config(t)
			cfg.Ranking.Popularity.Weight = 0.25
			a := open(t, cfg, WithClock(at(noon).Now))
			aged := func(id, title string, age time.Duration, tags ...string) feed.Item {
				return feed.Item{ID: id, Title: title, UpdateTime: noon.Add(-age).Unix(), Tags: tags}
			}
			all, summary := aged("all", "Machine learning in C++", 30*time.Hour, "go", "rust"), aged("summary", "A report", 30*time.Hour)
			all.Likes, summary.Summary = 9999, "On machine learning."
			put(t, a, all, summary, aged("fresh", "News", time.Minute), aged("liked", "Go", 30*time.Hour, "go"),
				aged("nothing", "The learning machine", 30*time.Hour), aged("muted", "Go", time.Minute, "go", "politics"))
			post := social.Post{ID: "post:1", Author: "ann", Caption: "A post", Tags: []string{"go"}, Audience: social.Audience{Public: true}}
			_, _, err := a.network.fanout.Store().CreatePost(t.Context(), post, social.Creation{})
			require.NoError(t, err)
			settled(t, a)
			refreshIndex(t, a)
			require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{
				Interests: map[string]float64{"go": 2, "rust": 0.1}, MutedTags: []string{"politics"},
				Keywords: []feed.Keyword{{Term: "machine learning", Weight: 3}, {Term: "c++", Weight: 1}},
			}))

			s := &keptSystem{t, a}
			first := why(s, `{"action":"refresh","limit":2,"request_id":"r","why":true}`)
			want := map[string]string{
				// Shares: 3 and 2 of 6.2, and half of the score by a popularity factor of 2.
				"all":     "[{popular  } {keyword machine learning } {interest go }]",
				"summary": "[{keyword machine learning }]", "liked": "[{interest go }]", "fresh": "[{fresh  }]", "nothing": "nothing",
				"post:1": "[{interest go } {fresh  }]",
			}
			got := why(s, `{"action":"load_more","limit":10,"why":true}`)
			require.Len(t, first, 2)
			require.Equal(t, first, why(s, `{"action":"refresh","limit":2,"request_id":"r","why":true}`), "a retry")
			for id, reasons := range first {
				got[id] = reasons
			}
			require.Equal(t, want, got)
			for id, reasons := range why(s, `{"action":"refresh","limit":2,"request_id":"r"}`) {
				require.Equal(t, map[bool]string{true: "[]", false: "nothing"}[feed.IsPost(id)], reasons, "not asked for: %s", id)
			}
		})
	}
}

// why reads a page and tells what in_feed says of each item.
func why(s *keptSystem, body string) map[string]string {
	s.Helper()
	answer := s.call("u_1", "POST", "/v1/feed", body)
	require.Equal(s, 200, answer.status, answer.body)
	require.Empty(s, answer.Data.Degraded)
	var page struct{ Data client.Page }
	require.NoError(s, json.Unmarshal([]byte(answer.body), &page))
	out := map[string]string{}
	for _, it := range page.Data.Items {
		in, err := client.InFeedOf(it)
		require.NoError(s, err)
		if in == nil {
			out[it.ID] = "nothing"
			continue
		}
		require.Equal(s, feed.IsPost(it.ID), in.Source == social.FromDiscovery)
		out[it.ID] = fmt.Sprint(in.Why)
	}
	return out
}
