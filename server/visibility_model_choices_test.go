package server

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/stretchr/testify/require"
)

// recommendOrNot has an agent choose whether they want to be recommended, by a patch or a whole card, and checks what feeds
// show of them in the next call.
func (p *people) recommendOrNot() {
	who, reader := p.twoAgents()
	yes := p.rnd.IntN(2) == 0
	method := []string{"PUT", "PATCH"}[p.rnd.IntN(2)]
	p.mustCall(who, method, "/v1/authors/"+who, fmt.Sprintf(`{"recommend":%t}`, yes), 200)
	p.mustCall(who, "PUT", "/v1/authors/"+who, fmt.Sprintf(`{"name":"Called %s"}`, who), 200)
	p.unrecommended[who] = !yes
	for _, name := range []string{"home", "for_you"} {
		p.feed(reader, name, "refresh", p.rnd.IntN(2) == 0)
	}
	p.checkSuggestions(reader)
	p.checkIncompleteList(reader, "/v1/timeline?limit=100", p.timeline(reader))
	p.checkGuestFeeds()
}

// hideForAMoment has an agent hide some posts, and checks that it can list them, with what it may see of them.
func (p *people) hideForAMoment() {
	who := p.anyAgent()
	var hidden []*modelPost
	for range 1 + p.rnd.IntN(3) {
		x := p.anyPost()
		if !slices.ContainsFunc(hidden, func(other *modelPost) bool { return other.id == x.id }) {
			hidden = append(hidden, x)
			p.mustCall(who, "PUT", "/v1/agents/~/muted/items/"+x.id, "", 200)
		}
	}
	slices.Reverse(hidden)
	cursor, limit := "", 1+p.rnd.IntN(4)
	for i := 0; i < len(hidden); {
		var page struct {
			Data struct {
				Items []struct {
					ID   string
					Item *struct{ Caption string }
				}
				NextCursor *string `json:"next_cursor"`
			}
		}
		got := p.call(who, "GET", fmt.Sprintf("/v1/agents/~/muted/items?limit=%d&cursor=%s", limit, url.QueryEscape(cursor)), "")
		require.NoError(p, json.Unmarshal([]byte(got.body), &page))
		require.NotEmpty(p, page.Data.Items, got.body)
		for _, one := range page.Data.Items {
			x := hidden[i]
			require.Equal(p, x.id, one.ID)
			shown := p.sees(who, x) && x.root == nil
			require.Equal(p, shown, one.Item != nil, "%s has hidden %s (%s): %s", who, x.id, x.kind(), got.body)
			if shown {
				require.Equal(p, x.caption, one.Item.Caption)
			}
			i++
		}
		require.Equal(p, i == len(hidden), page.Data.NextCursor == nil, got.body)
		if page.Data.NextCursor != nil {
			cursor = *page.Data.NextCursor
		}
	}
	for _, x := range hidden {
		p.mustCall(who, "DELETE", "/v1/agents/~/muted/items/"+x.id, "", 200)
	}
}
