package socialtest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// exports checks the records of exports, and the parts of their files.
func exports(e *env) {
	none, err := e.Export(e.ctx, "a")
	e.ok(err)
	require.Equal(e, social.Export{Agent: "a"}, none)
	set := func(x social.Export) {
		e.Helper()
		got, err := e.ChangeExport(e.ctx, "a", func(social.Export) (social.Export, error) { return x, nil })
		e.ok(err)
		require.Equal(e, x, got)
	}
	first := social.Export{Agent: "a", Name: "n1", State: social.ExportRunning, Asked: 100, Until: 200}
	set(first)
	first.State, first.Parts, first.Bytes, first.Sent, first.Until = social.ExportReady, 2, 5, 1, 300
	set(first)
	set(first)
	got, err := e.Export(e.ctx, "a")
	e.ok(err)
	require.Equal(e, first, got)
	_, err = e.ChangeExport(e.ctx, "a", func(x social.Export) (social.Export, error) {
		x.State = social.ExportFailed
		return x, feed.ErrGone
	})
	require.ErrorIs(e, err, feed.ErrGone)
	n, err := e.ExportParts(e.ctx)
	e.ok(err)
	require.Equal(e, 2, n)
	// Another name replaces it.
	second := social.Export{Agent: "a", Name: "n2", State: social.ExportFailed, Asked: 400, Until: 500, Reason: "why"}
	set(second)
	ended := func(now int64) (names []string) {
		list, err := e.EndedExports(e.ctx, now, 700, 10)
		e.ok(err)
		for _, x := range list {
			names = append(names, x.Name)
		}
		return names
	}
	require.Equal(e, []string{"n1"}, ended(450))
	require.Equal(e, []string{"n1", "n2"}, ended(500))
	e.ok(e.DropExport(e.ctx, "n1"))
	require.Equal(e, []string{"n2"}, ended(500))

	for part, data := range []string{1: "one", 2: "two"} {
		if part > 0 {
			e.ok(e.PutExportPart(e.ctx, "n2", part, []byte("before")))
			e.ok(e.PutExportPart(e.ctx, "n2", part, []byte(data)))
		}
	}
	data, err := e.ExportPart(e.ctx, "n2", 2)
	e.ok(err)
	require.Equal(e, "two", string(data))
	e.ok(e.DropExportParts(e.ctx, "n2"))
	_, err = e.ExportPart(e.ctx, "n2", 2)
	require.ErrorIs(e, err, feed.ErrNotFound)

	// An erasure takes the record away from the agent; the next one may have the id.
	e.ok(e.EraseAgent(e.ctx, "a"))
	got, err = e.Export(e.ctx, "a")
	e.ok(err)
	require.Equal(e, social.Export{Agent: "a"}, got)
	require.Equal(e, []string{"n2"}, ended(0))
	set(social.Export{Agent: "a", Name: "n3", State: social.ExportRunning, Asked: 600, Until: 700})
	got, err = e.ChangeExport(e.ctx, "a", func(x social.Export) (social.Export, error) { x.State = social.ExportEnded; return x, nil })
	e.ok(err)
	require.Equal(e, "n3", got.Name)
	require.Equal(e, []string{"n2", "n3"}, ended(0))
}

// exportAskedAtOnce: of several first records, one stays.
func exportAskedAtOnce(e *env) {
	var all sync.WaitGroup
	for _, name := range []string{"n1", "n2", "n3", "n4"} {
		all.Go(func() {
			_, err := e.ChangeExport(e.ctx, "a", func(x social.Export) (social.Export, error) {
				if x.Name == "" {
					x = social.Export{Agent: "a", Name: name, State: social.ExportRunning, Asked: 1, Until: 2}
				}
				return x, nil
			})
			e.ok(err)
		})
	}
	all.Wait()
	list, err := e.EndedExports(e.ctx, 2, 1<<50, 10)
	e.ok(err)
	require.Len(e, list, 1)
}

// linesOf returns the lines of each part of an agent's export.
func (e *env) linesOf(agent string) map[string][]string {
	found := map[string][]string{}
	for _, p := range e.PersonalParts() {
		if p.Export == nil {
			continue
		}
		e.ok(p.Export(e.ctx, agent, func(line any) error {
			text, err := json.Marshal(line)
			found[p.Name] = append(found[p.Name], string(text))
			return err
		}))
	}
	return found
}

// exported checks what an export has of an agent who has done everything, and that it is gone after the erasure.
func exported(e *env) {
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "a", Name: "Ana", Bio: "b"}, here))
	own := e.create(social.Post{Author: "a", Caption: "mine", Audience: public()})
	reply := e.create(social.Post{Author: "a", Caption: "and this", ReplyTo: own.ID})
	theirs := e.create(social.Post{Author: "b", Caption: "theirs", Audience: public(), Mentions: []string{"a"}})
	hidden := e.create(social.Post{Author: "b", Caption: "hidden", Audience: public(), Mentions: []string{"a"}})
	changed := func(_ bool, err error) { e.Helper(); e.ok(err) }
	changed(e.Follow(e.ctx, "a", "b", here))
	changed(e.Follow(e.ctx, "c", "a", here))
	changed(e.Block(e.ctx, "a", "x"))
	changed(e.Block(e.ctx, "y", "a"))
	e.ok(third(e.Like(e.ctx, "a", theirs.ID)))
	e.ok(third(e.Like(e.ctx, "c", own.ID)))
	group := social.CircleTerms{Kind: social.KindGroup}
	PutCircle(e, e, social.Circle{ID: "plain", Owner: "a", Name: "P"}, []string{"b"}, here)
	PutCircle(e, e, social.Circle{ID: "secret", Owner: "b", Name: "S"}, []string{"a"}, here)
	PutCircle(e, e, social.Circle{ID: "own", Owner: "a", CircleTerms: group}, []string{"b"}, here)
	PutCircle(e, e, social.Circle{ID: "in", Owner: "b", CircleTerms: group}, []string{"a"}, here)
	PutCircle(e, e, social.Circle{ID: "open", Owner: "b", CircleTerms: group}, nil, here)
	PutCircle(e, e, social.Circle{ID: "left", Owner: "b", CircleTerms: group}, []string{"a"}, here)
	changed(e.Invite(e.ctx, "open", "a", "b"))
	changed(e.Invite(e.ctx, "own", "d", "a"))
	changed(e.RemoveMember(e.ctx, "left", "a", "a", here))
	changed(e.Mute(e.ctx, "a", social.MuteCircle, "in", time.Time{}))
	changed(e.Mute(e.ctx, "a", social.MuteInviter, "z", time.Time{}))
	off := e.create(social.Post{Author: "b", Caption: "off topic", Audience: social.Audience{Circles: []string{"own"}}})
	e.ok(e.RemovePost(e.ctx, off.ID, "a", "own", "off topic"))
	report := social.Report{Object: social.Object{Kind: social.ObjectPost, ID: theirs.ID}, Agent: "a", Reason: "spam", Details: "look"}
	changed(e.Report(e.ctx, report))
	changed(e.Report(e.ctx, social.Report{Object: social.Object{Kind: social.ObjectAuthor, ID: "a"}, Agent: "reporter", Reason: "spam"}))
	changed(e.Moderate(e.ctx, social.Moderate{By: "moderator", Object: social.Object{Kind: social.ObjectPost, ID: own.ID}, Action: social.ActionHold, Reason: "wait"}))
	changed(e.Moderate(e.ctx, social.Moderate{By: "moderator", Object: social.Object{Kind: social.ObjectPost, ID: hidden.ID}, Action: social.ActionHold}))
	_, _, err := e.CreatePost(e.ctx, social.Post{Author: "a", Caption: "keyed", Audience: public()}, social.Creation{Key: "k"})
	e.ok(err)

	found := e.linesOf("a")
	for name, want := range map[string]int{
		"card": 1, "posts": 2, "replies": 1, "following": 1, "followers": 1, "blocks": 1, "mutes": 2, "likes": 1, "mentions": 1, "circles": 2, "circle_members": 3,
		"circle_invitations": 1, "groups": 1, "invitations": 1, "refusals": 1, "reports": 1, "removals": 1, "idempotency_keys": 1, "images": 0,
	} {
		assert.Len(e, found[name], want, name)
	}
	all := strings.Join(slices.Concat(slices.Collect(maps.Values(found))...), "\n")
	for _, mine := range []string{`"held":true`, `"wait"`, `"off topic"`, `"look"`, reply.ID, `"Ana"`, `"kind":"follow"`, `"key":"k"`} {
		assert.Contains(e, all, mine)
	}
	for _, others := range []string{"secret", "reporter", "moderator", "theirs", "hidden", `"y"`, hidden.ID} {
		assert.NotContains(e, all, others)
	}
	no := false
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "a", Name: "Ana", Bio: "b", ImageURL: "https://example.org/a.png", SuggestFromFollows: &no, Recommend: &no}, here))
	var card map[string]any
	e.ok(json.Unmarshal([]byte(e.linesOf("a")["card"][0]), &card))
	require.Equal(e, map[string]any{
		"id": "a", "name": "Ana", "bio": "b", "image_url": "https://example.org/a.png", "suggest_from_follows": false, "recommend": false,
	}, card, "each choice as the API has it")
	// What the agent has written and does not see any more is the agent's all the same.
	lost := e.create(social.Post{Author: "b", Caption: "under it", Audience: public()})
	under := e.create(social.Post{Author: "a", Caption: "below", ReplyTo: lost.ID})
	changed(e.Block(e.ctx, "b", "a"))
	require.Contains(e, strings.Join(e.linesOf("a")["replies"], "\n"), under.ID)

	e.ok(e.EraseAgent(e.ctx, "a"))
	found = e.linesOf("a")
	require.Empty(e, found, "before the job has run")
	e.eraseAll("a")
	require.Empty(e, e.linesOf("a"))
}

// exportPages: a list longer than a page is exported once, in any order.
func exportPages(e *env) {
	const many = 450 // more than two pages
	var want []string
	for i := range many {
		agent := "f" + string(rune('a'+i/26/26)) + string(rune('a'+i/26%26)) + string(rune('a'+i%26))
		want = append(want, `{"agent":"`+agent+`"}`)
		_, err := e.Follow(e.ctx, agent, "a", here)
		e.ok(err)
	}
	got := e.linesOf("a")["followers"]
	slices.Sort(got)
	require.Equal(e, want, got)
}
