package timeline_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// TestNoEmptyPages checks that a reader who has muted somebody loud scrolls through any list
// without empty pages, each post once.
func TestNoEmptyPages(t *testing.T) {
	t.Parallel()
	n := enginetest.NewNetworkOf(t, 100, 100) // the store has what the list does not hold
	group(n, "g", "ann", "loud", "kind", "reader")
	n.Follow("reader", "loud")
	n.Follow("reader", "kind")
	root := n.Post("ann", social.Audience{Public: true})
	want := map[string][]string{}
	for i := range 210 {
		n.Advance(time.Second)
		author := "loud"
		if i%70 == 35 {
			author = "kind"
		}
		posts := map[string]social.Post{
			"timeline": {Audience: social.Audience{Followers: true}}, "group": {Audience: social.Audience{Circles: []string{"g"}}},
			"replies": {ReplyTo: root.ID},
		}
		for list, p := range posts {
			p.Author, p.Caption = author, "By "+author
			p = n.PostAs(p)
			if author == "kind" {
				want[list] = append([]string{p.ID}, want[list]...)
			}
			if author == "kind" && list == "group" { // a member gets it in the timeline, too
				want["timeline"] = append([]string{p.ID}, want["timeline"]...)
			}
		}
	}
	n.Reader = feed.Profile{MutedAuthors: []string{"loud"}}
	for _, list := range []string{"timeline", "group", "replies", "replies, oldest first", "by words"} {
		if list == "by words" {
			n.Reader, list = feed.Profile{MutedWords: []feed.MutedWord{{Term: "by loud"}}}, "timeline"
		}
		t.Run(list, func(t *testing.T) {
			read := func(ctx context.Context, from social.Position) (timeline.Page, error) {
				switch list {
				case "timeline":
					return n.Timelines.Timeline(ctx, timeline.Request{Agent: "reader", Below: from, Limit: 2})
				case "group":
					return n.Timelines.Circle(ctx, timeline.CircleRequest{Reader: "reader", Circle: "g", Below: from, Limit: 2})
				}
				return n.Timelines.Replies(ctx, timeline.RepliesRequest{Reader: "reader", Post: root.ID, After: from, Limit: 2, Oldest: list != "replies"})
			}
			var got []string
			for from, more := (social.Position{}), true; more; {
				page, err := read(t.Context(), from)
				require.NoError(t, err)
				if page.HasMore {
					assert.NotEmpty(t, page.Posts)
				}
				got = append(got, enginetest.PostIDs(page)...)
				from, more = page.Next, page.HasMore
			}
			if list == "timeline" || list == "group" || list == "replies" {
				assert.ElementsMatch(t, want[list], got)
			} else {
				assert.ElementsMatch(t, want["replies"], got)
			}
		})
	}
}
