package pages

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/social"
)

const (
	offered    = `[...document.querySelectorAll('#composer [name=circle]')].map((box) => box.value).join()`
	groupItems = `[...document.querySelectorAll('.groups li')]`
)

// TestFeedPageGroups has a person who is invited, joins one group and declines another, posts to
// those that accept posts, and leaves.
func TestFeedPageGroups(t *testing.T) {
	t.Parallel()
	a, url := serve(t)
	later := time.Now().Add(time.Hour).Unix()
	send(t, a, "u_1", "PUT", "/v1/circles/mine", `{"name":"Friends","members":[]}`)
	for id, terms := range map[string]string{
		"rowers": `"kind":"group","name":"Rowers"`, "choir": `"kind":"group","name":"Choir"`, "regatta": fmt.Sprintf(`"kind":"event","name":"Regatta","until":%d`, later),
	} {
		send(t, a, "u_2", "PUT", "/v1/circles/"+id, "{"+terms+"}")
		send(t, a, "u_2", "PUT", "/v1/circles/"+id+"/invitations/u_1", "")
	}
	for id, terms := range map[string]string{"news": `"kind":"group","post":"owner"`, "past": fmt.Sprintf(`"kind":"event","until":%d`, later)} {
		send(t, a, "u_2", "PUT", "/v1/circles/"+id, "{"+terms+"}")
		send(t, a, "u_2", "PUT", "/v1/circles/"+id+"/invitations/u_1", "")
		send(t, a, "u_1", "PUT", "/v1/circles/"+id+"/members/u_1", "")
	}
	send(t, a, "u_2", "PATCH", "/v1/circles/past", fmt.Sprintf(`{"until":%d}`, time.Now().Unix()))
	tab := chromium.Open(t, chromium.Phone)
	readAs(tab, url, "u_1", "author=u_1")
	tab.Until(`document.querySelector('.groups summary')?.textContent === 'Groups · 3 invitations'`)
	tab.Click(".groups summary")
	tab.Shot("groups")
	for _, id := range []string{"rowers", "regatta"} {
		tab.Click(".groups [data-id=" + id + "] .join")
		tab.Until(`document.querySelector('.groups [data-id=` + id + `] .leave')`)
	}
	tab.Click(".groups [data-id=choir] .decline")
	tab.Until(`!document.querySelector('.groups [data-id=choir]') && document.querySelector('.groups summary').textContent === 'Groups'`)
	assert.True(t, chromium.Eval[bool](tab, `document.activeElement === document.querySelector('.groups summary')`), "the reader is where they were")
	assert.Equal(t, 4, chromium.Eval[int](tab, groupItems+`.length`))

	tab.Click("h1 a")
	tab.Until(ids + `.length > 0`)
	tab.Click("#compose")
	tab.Until(`document.activeElement.name === 'caption'`)
	tab.Press("Low water at the weir")
	tab.Click("#composer input[value=circles]")
	tab.Until(offered + ` === 'mine,regatta,rowers'`)
	tab.Click("#composer input[value=rowers]")
	tab.Click("#composer .publish")
	tab.Until(written)
	var seen struct{ Items []struct{ Caption string } }
	require.NoError(t, json.Unmarshal(send(t, a, "u_2", "GET", "/v1/timeline?limit=1", ""), &seen))
	require.Len(t, seen.Items, 1)
	assert.Equal(t, "Low water at the weir", seen.Items[0].Caption)

	readAs(tab, url, "u_1", "author=u_1")
	tab.Until(groupItems + `.length === 4`)
	tab.Click(".groups summary")
	tab.Click(".groups [data-id=rowers] .leave")
	tab.Click(".groups [data-id=rowers] .bad")
	tab.Until(groupItems + `.length === 3 && !document.querySelector('.groups [data-id=rowers]')`)
	var joined struct{ Circles []struct{ ID string } }
	require.NoError(t, json.Unmarshal(send(t, a, "u_1", "GET", "/v1/circles?of=joined", ""), &joined))
	assert.Len(t, joined.Circles, 3)

	// Declining the only invitation retains the focus, too.
	require.NoError(t, a.Engine.PutProfile(t.Context(), "guest_of_one", feed.Profile{}))
	require.NoError(t, a.Social.PutAuthor(t.Context(), social.Author{ID: "guest_of_one"}, time.Time{}))
	send(t, a, "u_2", "PUT", "/v1/circles/choir/invitations/guest_of_one", "")
	readAs(tab, url, "guest_of_one", "author=guest_of_one")
	tab.Until(groupItems + `.length === 1`)
	tab.Click(".groups summary")
	tab.Click(".groups .decline")
	tab.Until(groupItems + `.length === 0 && document.activeElement === document.querySelector('.groups summary')`)
}
