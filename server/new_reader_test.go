package server

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

func isNewReader(t *testing.T, a *App, method, path, agent, body string) bool {
	t.Helper()
	var answer struct {
		Data struct {
			NewReader *bool    `json:"new_reader"`
			Degraded  []string `json:"degraded"`
		} `json:"data"`
	}
	callJSON(t, a, method, path, agent, body, &answer)
	require.Empty(t, answer.Data.Degraded)
	if answer.Data.NewReader == nil {
		return false
	}
	require.True(t, *answer.Data.NewReader, "it is absent where it is not true")
	return true
}

// TestNewReaderFlag follows a reader from their first call on.
func TestNewReaderFlag(t *testing.T) {
	t.Parallel()
	const (
		peek  = `{"action":"refresh","silent":true}`
		first = `{"action":"refresh","limit":5,"request_id":"first"}`
		more  = `{"action":"load_more","limit":5}`
		fresh = `{"action":"refresh","limit":5}`
		home  = `{"action":"refresh","limit":5,"feed":"home"}`
	)
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			a := open(t, m.config(t), WithClock(at(noon).Now))
			put(t, a, subjects(40)...)
			ask := func(agent, body string) bool {
				t.Helper()
				return isNewReader(t, a, http.MethodPost, "/v1/feed", agent, body)
			}
			timeline := func(agent string) bool {
				t.Helper()
				return isNewReader(t, a, http.MethodGet, "/v1/timeline", agent, "")
			}
			assert.True(t, timeline("u_1"), "the timeline, before the first refresh")
			assert.True(t, ask("u_1", first), "the first refresh")
			assert.True(t, ask("u_1", first), "its retry")
			assert.False(t, ask("u_1", fresh), "the second one")
			assert.False(t, ask("u_1", more), "load_more")
			assert.False(t, ask("u_1", home), "the other feed")
			assert.False(t, ask("u_1", peek), "the badge")
			assert.False(t, timeline("u_1"))

			for range 3 {
				assert.True(t, ask("u_2", peek), "a badge is no refresh")
			}
			assert.True(t, ask("u_2", more), "the first load_more refreshes")
			assert.False(t, ask("u_2", peek))

			assert.True(t, ask("u_3", home))
			for range 2 {
				var erased any
				callJSON(t, a, http.MethodDelete, "/v1/agents/u_3", "u_3", "", &erased)
				assert.True(t, timeline("u_3"), "after an erase")
				assert.True(t, ask("u_3", peek), "after an erase")
				assert.True(t, ask("u_3", fresh), "after an erase")
				assert.False(t, ask("u_3", fresh))
			}
		})
	}
}

// TestNewReaderSuggestions goes from follows to suggestions, and from these to following several
// authors in one call.
func TestNewReaderSuggestions(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			a := open(t, m.config(t), WithClock(at(noon).Now))
			store := a.network.fanout.Store()
			follow := func(agent string, authors ...string) {
				t.Helper()
				for _, author := range authors {
					callJSON(t, a, http.MethodPut, "/v1/agents/"+agent+"/following/"+author, agent, "", new(any))
				}
			}
			befriend := func(agent string, at time.Time) {
				t.Helper()
				_, rejected, err := store.FollowAll(t.Context(), []social.Edge{{Agent: "reader", Author: agent}, {Agent: agent, Author: "reader"}}, at)
				require.NoError(t, err)
				require.Empty(t, rejected)
			}
			for i := range 5 { // an author followed by three of five friends is suggested, by two not
				friend := fmt.Sprint("friend_", i)
				befriend(friend, noon.Add(-social.FriendsAfter))
				if i < 4 {
					follow(friend, "ann", "bob")
				}
				if i < 2 {
					follow(friend, "of_two")
				}
			}
			callJSON(t, a, http.MethodPut, "/v1/authors/friend_0", "friend_0", `{"suggest_from_follows":false}`, new(any))
			for i := range 3 {
				planted := fmt.Sprint("planted_", i)
				befriend(planted, noon.Add(time.Hour-social.FriendsAfter))
				follow(planted, "of_two")
			}
			_, _, err := store.CreatePost(t.Context(), social.Post{
				Author: "ann", Caption: "Rain", CreatedAt: noon.Unix() - 60, Audience: social.Audience{Public: true},
			}, social.Creation{})
			require.NoError(t, err)
			waitSettled(t, a)
			suggested := func(agent string) []api.Suggestion {
				t.Helper()
				var answer struct{ Data api.Suggestions }
				callJSON(t, a, http.MethodGet, "/v1/agents/"+agent+"/suggestions", agent, "", &answer)
				for i := range answer.Data.Authors { // the counts are those of all lists of people
					answer.Data.Authors[i].Card = api.AgentCard{PostAuthor: answer.Data.Authors[i].Card.PostAuthor}
				}
				return answer.Data.Authors
			}
			by := func(author string) api.Suggestion {
				return api.Suggestion{Author: author, Card: api.AgentCard{PostAuthor: api.PostAuthor{ID: author}}, Reason: api.FollowedBy, Count: social.SuggestionEvidence}
			}
			want := []api.Suggestion{by("ann"), by("bob")}
			testenv.WaitFor(t, func() bool { return len(suggested("reader")) == len(want) }, "suggestions are computed") // before that, there is only the newest author
			assert.Equal(t, want, suggested("reader"))
			newest := []api.Suggestion{{Author: "ann", Card: api.AgentCard{PostAuthor: api.PostAuthor{ID: "ann"}}, Reason: api.New}}
			assert.Equal(t, newest, suggested("planted_0"), "who has few friends is told of nobody by them")

			var followed struct{ Data api.Followed }
			callJSON(t, a, http.MethodPost, "/v1/agents/reader/following", "reader", `{"authors":["ann","bob"]}`, &followed)
			assert.Equal(t, 2, followed.Data.Changed)
			assert.Empty(t, suggested("reader"), "who is followed is not suggested")
			var timeline struct {
				Data struct {
					Items []struct {
						Author string `json:"author_id"`
					} `json:"items"`
				}
			}
			callJSON(t, a, http.MethodGet, "/v1/timeline", "reader", "", &timeline)
			assert.Len(t, timeline.Data.Items, 1, "the timeline has the posts of those who were followed")
		})
	}
}
