package socialtest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// erasedAgents checks the list of erased agents, which servers follow page by page.
func erasedAgents(e *env) {
	require.Empty(e, must[[]social.ErasedAgent](e)(e.ErasedAgents(e.ctx, 0, "", 10)))
	e.cardsOf("author", "kept")
	e.ok(e.EraseAuthor(e.ctx, "author"))
	require.Empty(e, must[[]social.ErasedAgent](e)(e.ErasedAgents(e.ctx, 0, "", 10)), "only the card and the posts")
	want := map[string]int64{}
	for i := range 7 {
		agent := fmt.Sprint("a", 6-i)
		e.ok(e.EraseAgent(e.ctx, agent))
		stamp, used, err := e.LastErasure(e.ctx, agent)
		e.ok(err)
		require.False(e, used)
		require.GreaterOrEqual(e, stamp, social.Stamp(e.clock()))
		want[agent] = stamp
		if i%2 > 0 {
			e.pass(time.Second)
		}
	}
	got, since, after := map[string]int64{}, int64(0), ""
	for pages := 0; ; pages++ {
		list := must[[]social.ErasedAgent](e)(e.ErasedAgents(e.ctx, since, after, 2))
		if len(list) == 0 {
			require.Equal(e, 4, pages)
			break
		}
		for _, a := range list {
			require.True(e, a.At > since || a.At == since && a.ID > after)
			since, after = a.At, a.ID
			got[a.ID] = a.At
		}
	}
	require.Equal(e, want, got)
	e.eraseAll("a0")
	e.pass(social.TombstoneLives + time.Hour)
	e.purgeRows(100)
	require.Len(e, must[[]social.ErasedAgent](e)(e.ErasedAgents(e.ctx, 0, "", 10)), 7, "for ever")

	stamp, used, err := e.LastErasure(e.ctx, "kept")
	e.ok(err)
	require.Zero(e, stamp)
	require.False(e, used)
	for agent, act := range map[string]func(agent string) error{
		"a1": func(agent string) error { return second(e.Block(e.ctx, agent, "kept")) },
		"a2": func(agent string) error { return second(e.Mute(e.ctx, agent, social.MuteInviter, "kept", here)) },
		"a3": func(agent string) error {
			return second(e.Report(e.ctx, social.Report{Object: social.Object{Kind: social.ObjectAuthor, ID: "kept"}, Agent: agent, Reason: "spam"}))
		},
		"a4": func(agent string) error { return second(e.Follow(e.ctx, agent, "kept", here)) },
		"a5": func(agent string) error { return e.PutAuthor(e.ctx, social.Author{ID: agent, Name: "x"}, here) },
	} {
		e.ok(act(agent))
		_, used, err := e.LastErasure(e.ctx, agent)
		e.ok(err)
		require.True(e, used, agent)
	}
}
