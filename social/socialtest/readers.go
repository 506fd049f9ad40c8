package socialtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// listsForReaders compares every list of agents, page by page, with the complete list without those
// who are separated from its reader by a block.
func listsForReaders(e *env) {
	agents := make([]string, 9)
	for i := range agents {
		agents[i] = fmt.Sprint("a", i)
		e.follow(agents[i], "hub")
		e.follow("hub", agents[i])
	}
	e.group("g", "owner", social.CircleTerms{MembersVisibleTo: social.ByMembers}, agents...)
	apart := map[[2]string]bool{}
	for _, pair := range [][2]int{{0, 1}, {1, 0}, {2, 0}, {0, 3}, {4, 5}, {8, 1}, {8, 7}} {
		one, other := agents[pair[0]], agents[pair[1]]
		e.block(one, other)
		apart[[2]string{one, other}], apart[[2]string{other, one}] = true, true
	}
	for _, list := range []struct {
		of   string
		read func(ctx context.Context, of, reader, after string, n int) ([]string, error)
	}{{"hub", e.Following}, {"hub", e.Followers}, {"g", e.Members}} {
		whole := e.list(list.read, list.of)
		require.Subset(e, whole, agents, "an admin's list is complete")
		for _, reader := range agents {
			want := slices.DeleteFunc(slices.Clone(whole), func(agent string) bool { return apart[[2]string{reader, agent}] })
			require.Equal(e, want, e.listFor(reader, list.read, list.of), "%s for %s", list.of, reader)
		}
	}
	require.Equal(e, len(agents)+1, must[social.Circle](e)(e.Circle(e.ctx, "g")).Size, "the size is the same for everybody")
	require.Equal(e, []string{"a1", "a3"}, must[[]string](e)(e.Blocked(e.ctx, "a0", "", 9)), "one's own blocks are all there")
}

// membersShown checks who may read the members of a circle.
func membersShown(e *env) {
	e.putCircle("plain", "o", "m")
	e.group("closed", "o", social.CircleTerms{}, "m")
	e.group("open", "o", social.CircleTerms{MembersVisibleTo: social.ByMembers}, "m")
	e.invited("open", "i")
	for _, test := range []struct {
		circle, reader string
		want           error
	}{
		{"plain", "o", nil},
		{"plain", "", nil},
		{"plain", "m", feed.ErrNotFound},
		{"plain", "x", feed.ErrNotFound},
		{"closed", "o", nil},
		{"closed", "", nil},
		{"closed", "m", feed.ErrForbidden},
		{"closed", "x", feed.ErrNotFound},
		{"open", "o", nil},
		{"open", "m", nil},
		{"open", "i", feed.ErrForbidden},
		{"open", "x", feed.ErrNotFound},
		{"none", "", feed.ErrNotFound},
		{"none", "o", feed.ErrNotFound},
		{"no circle's id", "", feed.ErrBadID},
	} {
		list, err := e.Members(e.ctx, test.circle, test.reader, "", 9)
		require.ErrorIs(e, err, test.want, "%s for %q", test.circle, test.reader)
		require.Equal(e, test.want == nil, slices.Contains(list, "m"), "%s for %q", test.circle, test.reader)
	}
}

// circleAsPut checks that PutCircle returns what it has stored.
func circleAsPut(e *env) {
	group := social.CircleTerms{Kind: social.KindGroup}
	for _, change := range []struct {
		circle  social.Circle
		members []string
	}{
		{social.Circle{ID: "c", Owner: "o", Name: "Friends"}, []string{"m", "n", "m"}},
		{social.Circle{ID: "c", Owner: "o", Name: "Close friends"}, nil},
		{social.Circle{ID: "c", Owner: "o"}, []string{}},
		{social.Circle{ID: "g", Owner: "o", Name: "Rowers", CircleTerms: group}, []string{"m"}},
		{social.Circle{ID: "g", Owner: "o", CircleTerms: social.CircleTerms{Post: social.ByOwner}}, []string{"n", "m"}},
		{social.Circle{ID: "ev", Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindEvent}, Until: e.now.Unix() + 60}, nil},
	} {
		put := must[social.Circle](e)(e.PutCircle(e.ctx, change.circle, change.members, here))
		require.Equal(e, must[social.Circle](e)(e.Circle(e.ctx, change.circle.ID)), put)
		e.pass(1)
	}
	stored, err := e.PutCircle(e.ctx, social.Circle{ID: "c", Owner: "x"}, nil, here)
	require.ErrorIs(e, err, feed.ErrForbidden)
	require.Zero(e, stored, "a refused call names nothing of another agent's circle")
}
