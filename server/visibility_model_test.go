package server

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

var (
	peopleSeed  = flag.Uint64("people.seed", 1, "first seed of the test of who may see what; 0: by the clock, to find something new")
	peopleSeeds = flag.Int("people.seeds", 0, "how many seeds it runs; 0: 3 embedded and one over services")
	peopleSteps = flag.Int("people.steps", 150, "steps of one run")
)

// TestVisibilityModel performs random calls over HTTP: people follow, block, mute, also for a time, post, reply,
// edit and delete, create groups and events, invite, join, decline, leave, mute groups and hand
// them over; moderators hold, remove and restore posts, and suspend people; some do not want to be recommended. After them it checks, as each person, where each post appears: by its id, in the
// timeline, home and for-you, on its author's page and grid, among the replies to its root, in the
// badge and in the stream, and of what they are notified. The expected places come from a model that knows only the actions. Over
// services the calls go to two servers whose clocks are up to a minute apart; embedded, the clock
// jumps back and ahead by as much. A failure names its seed and lists the steps.
func TestVisibilityModel(t *testing.T) {
	t.Parallel()
	first := *peopleSeed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			looked, count := 0, *peopleSeeds
			if count == 0 {
				count = map[string]int{"embedded": testenv.Schedules(3), "services": 1}[m.name]
			}
			if testenv.InFull("models") {
				count *= 10
			}
			for seed := first; seed < first+uint64(count) && !t.Failed(); seed++ {
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
					p := newPeople(t, m, seed)
					defer p.tell()
					for i := range *peopleSteps {
						if p.step(); i == *peopleSteps/2 {
							p.checkEverything(p.names[:2])
						}
					}
					p.checkEverything(p.names)
					looked += p.looked
				})
			}
			t.Logf("%d times somebody was asked about a post, from seed %d on", looked, first)
		})
	}
}

// people is a system, its users, and the model of their actions.
type people struct {
	httpSystem
	rules
	rnd     *rand.Rand
	clock   *clock
	servers []*peopleServer
	skewed  bool // see clocksDiffer
	names   []string
	shown   map[[2]string]bool // reader, post: shown by a feed or a list
	steps   []string
	serial  int
	looked  int
}

// peopleAdmin is the admin token of the system that the people use.
const peopleAdmin = "an-admin-token-for-other-systems"

func newPeople(t *testing.T, m mode, seed uint64) *people {
	cfg, now := m.config(t), at(noon)
	cfg.Timeline.CelebrityAt = 2 + int(seed%3)*2 // some authors are pulled
	cfg.Auth.AdminToken = peopleAdmin
	cfg.Dedup.FalsePositiveRate, cfg.Dedup.DailyCapacity = 1e-9, 10_000
	servers := serversOfPeople(t, m, cfg, now, seed)
	return &people{
		httpSystem: httpSystem{t, servers[0].app},
		servers:    servers,
		skewed:     clocksDiffer(seed),
		rules: rules{
			follows: map[[2]string]bool{}, blocks: map[[2]string]bool{}, mutes: map[[2]string]int64{}, words: map[[2]string]int64{},
			hushed: map[[2]string]int64{}, unheard: map[[2]string]bool{}, refused: map[[2]string]int64{}, likes: map[[2]string]bool{}, unrecommended: map[string]bool{},
			circles: map[string]*modelCircle{}, erasedAt: map[string]int64{}, now: now.Now().Unix(),
		},
		rnd: rand.New(rand.NewPCG(seed, 3)), clock: now, shown: map[[2]string]bool{},
		names: []string{"ann", "bob", "cid", "dan", "eve", "fay", "gus"},
	}
}

func (p *people) tell() {
	if p.Failed() {
		p.Log(strings.Join(p.steps, "\n"))
	}
}

func (p *people) anyAgent() string { return p.names[p.rnd.IntN(len(p.names))] }

func (p *people) twoAgents() (a, b string) {
	i := p.rnd.Perm(len(p.names))
	return p.names[i[0]], p.names[i[1]]
}

func (p *people) anyPost() *modelPost {
	if len(p.posts) == 0 {
		return &modelPost{id: "post:never", gone: true}
	}
	return p.posts[p.rnd.IntN(len(p.posts))]
}

func (p *people) anyCircle() *modelCircle {
	if len(p.circles) == 0 {
		return nil
	}
	return p.circles[slices.Sorted(maps.Keys(p.circles))[p.rnd.IntN(len(p.circles))]]
}

// mustCall makes a call, which must be answered with the status.
func (p *people) mustCall(who, method, path, body string, status int, header ...string) httpAnswer {
	p.Helper()
	got := p.call(who, method, path, body, header...)
	p.steps = append(p.steps, fmt.Sprintf("%d %s: %s %s %s: %d %s", p.now, who, method, path, body, got.status, got.Data.ID))
	require.Equal(p, status, got.status, "%s: %s %s %s: %s", who, method, path, body, got.body)
	return got
}

func either(is bool, one, other int) int {
	if is {
		return one
	}
	return other
}

func (p *people) step() {
	p.Helper()
	p.serial++
	p.advance(time.Second)
	p.turn++
	defer p.callServer()()
	n := p.rnd.IntN(128)
	switch {
	case n < 27:
		p.publish()
	case n < 38:
		p.answer()
	case n < 42:
		p.edit()
	case n < 45:
		p.removePost()
	case n < 54:
		p.follow()
	case n < 58:
		p.blockOrNot()
	case n < 60:
		p.muteOrNot()
	case n < 62:
		p.muteCircleOrNot()
	case n < 67:
		p.createOrChangeCircle()
	case n < 81:
		p.invite()
	case n < 91:
		p.joinOrDecline()
	case n < 95:
		p.leave()
	case n < 98:
		p.ownerChanges()
	case n < 99:
		p.eraseAgent()
	case n < 104:
		p.reportAgain()
	case n < 107:
		p.muteWordOrNot()
	case n < 115:
		p.likeOrNot()
	case n < 120:
		p.holdOrRestore()
	case n < 121:
		p.suspendForAMoment()
	case n < 124:
		p.recommendOrNot()
	case n < 126:
		p.hideForAMoment()
	default:
		p.advance(time.Duration(p.rnd.IntN(30)) * time.Second)
	}
	p.checkQuickly()
}

// text returns a caption with a title that no other post has, and mostly one with a word that some
// people mute, or with what only resembles one.
func (p *people) text() string {
	more := []string{"Red!", "is so GREEN, or", "#blue", "reds are green, so what", ""}
	return fmt.Sprintf("w%[1]da w%[1]db w%[1]dc\n%[2]s.", p.serial, more[p.rnd.IntN(len(more))])
}

func (p *people) publish() {
	author := p.anyAgent()
	x := &modelPost{author: author, at: p.turn, created: p.now, caption: p.text(), reply: []string{"public", "public", "followers", "audience", "none"}[p.rnd.IntN(5)]}
	audience, takes := map[string]any{}, true
	switch p.rnd.IntN(6) {
	case 0:
		x.public = true
	case 1:
		x.followers = true
	case 2:
	default:
		x.followers = p.rnd.IntN(4) == 0
		for range 1 + p.rnd.IntN(4) {
			c := p.anyCircle()
			if c == nil || slices.Contains(x.circles, c) || !p.takes(c, author) && p.rnd.IntN(8) > 0 {
				continue
			}
			x.circles, takes = append(x.circles, c), takes && p.takes(c, author)
		}
	}
	if x.public {
		audience["public"] = true
	}
	if x.followers {
		audience["followers"] = true
	}
	var ids []string
	for _, c := range x.circles {
		ids = append(ids, c.id)
	}
	x.circled = ids != nil
	if x.circled {
		audience["circles"] = ids
	} else if x.reply == "audience" {
		x.reply = "public"
	}
	if p.rnd.IntN(4) == 0 {
		x.mentions = []string{p.anyAgent()}
	}
	body, err := json.Marshal(map[string]any{"caption": x.caption, "audience": audience, "reply": x.reply, "mentions": x.mentions})
	require.NoError(p, err)
	if got := p.mustCall(author, "POST", "/v1/posts", string(body), either(takes, 201, 422)); takes {
		x.id = got.Data.ID
		p.posts = append(p.posts, x)
		p.notePost(x, nil, x.mentions)
	}
}

func (p *people) answer() {
	who, to, mentioned := p.anyAgent(), p.anyPost(), p.anyAgent()
	x := &modelPost{author: who, at: p.turn, created: p.now, caption: p.text(), root: to, mentions: []string{mentioned}}
	if to.root != nil {
		x.root = to.root
	}
	status := either(p.sees(who, to), either(p.answers(who, to), 201, 403), 404)
	body := fmt.Sprintf(`{"caption":%q,"reply_to":%q,"mentions":[%q]}`, x.caption, to.id, mentioned)
	if got := p.mustCall(who, "POST", "/v1/posts", body, status); status == 201 {
		x.id = got.Data.ID
		p.posts = append(p.posts, x)
		p.notePost(x, to, x.mentions)
	}
}

// mayChange returns the status for an attempt to change a post.
func (p *people) mayChange(who string, x *modelPost) int {
	if who == x.author && !x.gone { // also of a reply whose root they no longer see
		return 200
	}
	return either(p.sees(who, x), 403, 404)
}

func (p *people) agentFor(x *modelPost) string {
	if p.rnd.IntN(3) > 0 && x.author != "" {
		return x.author
	}
	return p.anyAgent()
}

// mostlyInvisiblePost returns a post, preferably a reply whose author no longer sees those of
// others.
func (p *people) mostlyInvisiblePost() *modelPost {
	for _, x := range p.posts {
		if !x.gone && x.root != nil && !p.hears(x.author, x.root) && p.rnd.IntN(4) == 0 {
			return x
		}
	}
	return p.anyPost()
}

// reportAgain has another system report a post, preferably one with replies, with another audience.
func (p *people) reportAgain() {
	x := p.anyPost()
	for _, other := range p.posts {
		if other.root == nil && p.comments(other) > 0 && p.rnd.IntN(4) == 0 {
			x = other
		}
	}
	if p.skewed || x.gone || x.root != nil || x.hidden != nil {
		return
	}
	next := report{public: p.rnd.IntN(3) == 0, followers: p.rnd.IntN(3) == 0}
	if next.public {
		next.followers = false
	}
	for _, id := range slices.Sorted(maps.Keys(p.circles)) {
		was := slices.ContainsFunc(x.circles, func(c *modelCircle) bool { return c.id == id })
		if p.rnd.IntN(4) == 0 || was && p.rnd.IntN(2) == 0 {
			next.circles = append(next.circles, p.circles[id])
		}
	}
	for _, name := range p.names {
		// An event's mention of an agent who was erased may count for nobody; socialtest checks when.
		if name != x.author && p.erasedAt[name] == 0 && p.rnd.IntN(5) == 0 {
			next.mentions = append(next.mentions, name)
		}
	}
	if x.reply == "audience" && len(next.circles) == 0 {
		x.reply = "public"
	}
	ids := []string{}
	for _, c := range next.circles {
		ids = append(ids, c.id)
	}
	x.caption = p.text()
	event, err := json.Marshal(map[string]any{"type": "post.created", "data": map[string]any{
		"id": x.id, "author": map[string]any{"id": x.author}, "created_at": x.created, "at": p.now, "caption": x.caption, "reply": x.reply,
		"audience": map[string]any{"public": next.public, "followers": next.followers, "circles": ids}, "mentions": next.mentions,
	}})
	require.NoError(p, err)
	got := p.mustCall(guest, "POST", "/v1/graph/events", string(event), 200, "X-Admin-Token", peopleAdmin)
	require.Contains(p, got.body, `"accepted":1`)
	before := slices.Clone(x.mentions)
	p.reported(x, next)
	p.notePost(x, nil, slices.DeleteFunc(slices.Clone(x.mentions), func(agent string) bool { return slices.Contains(before, agent) }))
}

func (p *people) edit() {
	if p.rnd.IntN(4) == 0 {
		p.narrowReplies()
		return
	}
	x, caption := p.mostlyInvisiblePost(), p.text()
	who := p.agentFor(x)
	status := p.mayChange(who, x)
	if p.mustCall(who, "PATCH", "/v1/posts/"+x.id, fmt.Sprintf(`{"caption":%q}`, caption), status); status == 200 {
		x.caption = caption
	}
}

func (p *people) removePost() {
	x := p.mostlyInvisiblePost()
	who := p.remover(x)
	status := p.mayChange(who, x)
	from, may := p.removable(who, x)
	switch {
	case who == x.author:
		p.mustCall(who, "DELETE", "/v1/posts/"+x.id, "", status)
		if status == 200 {
			p.remove(x)
		}
	case may:
		p.mustCall(who, "DELETE", "/v1/posts/"+x.id, "", 200)
		p.takeAway(x, from)
	default:
		p.mustCall(who, "DELETE", "/v1/posts/"+x.id, "", status)
	}
}

func (p *people) eraseAgent() {
	who := p.anyAgent()
	p.mustCall(who, "DELETE", "/v1/agents/"+who, "", 200)
	p.erase(who)
}
