package server

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/freshet/freshet/configs"
)

func (p *people) follow() {
	agent, author := p.twoAgents()
	switch p.rnd.IntN(8) {
	case 0:
		author = "@server"
	case 1:
		p.followMany(agent)
		return
	}
	pair, path := [2]string{agent, author}, "/v1/agents/"+agent+"/following/"+author
	if p.rnd.IntN(3) == 0 {
		p.mustCall(agent, "DELETE", path, "", 200)
		delete(p.follows, pair)
		return
	}
	apart := p.apart(agent, author)
	if p.mustCall(agent, "PUT", path, "", either(apart, 403, 200)); !apart {
		p.follows[pair] = true
		p.note(modelNote{kind: "follow", to: author, by: agent})
	}
}

// followMany follows several authors in one call; those separated by a block are skipped.
func (p *people) followMany(agent string) {
	some := slices.DeleteFunc(slices.Clone(p.names[:4]), func(name string) bool { return name == agent })
	p.mustCall(agent, "POST", "/v1/agents/"+agent+"/following", fmt.Sprintf(`{"authors":["%s"]}`, strings.Join(some, `","`)), 200)
	for _, author := range some {
		if !p.apart(agent, author) {
			p.follows[[2]string{agent, author}] = true
			p.note(modelNote{kind: "follow", to: author, by: agent})
		}
	}
}

func (p *people) blockOrNot() {
	agent, other := p.twoAgents()
	path := "/v1/agents/" + agent + "/blocked/" + other
	if p.rnd.IntN(2) == 0 {
		p.mustCall(agent, "DELETE", path, "", 200)
		delete(p.blocks, [2]string{agent, other})
		return
	}
	p.mustCall(agent, "PUT", path, "", 200)
	p.block(agent, other)
}

func (p *people) muteOrNot() {
	agent, other := p.twoAgents()
	path := "/v1/agents/" + agent + "/muted/authors/" + other
	if p.rnd.IntN(2) == 0 {
		p.mustCall(agent, "DELETE", path, "", 200)
		delete(p.mutes, [2]string{agent, other})
		return
	}
	p.mute(p.mutes, path, agent, other)
}

// mute mutes something, for ever or for up to a minute. It has no end if clocks differ: one of them
// might have ended it.
func (p *people) mute(list map[[2]string]int64, path, agent, what string) {
	query, end := "", int64(0)
	if !p.skewed && p.rnd.IntN(2) == 0 {
		end = p.now + 1 + p.rnd.Int64N(60)
		query = "?until=" + time.Unix(end, 0).UTC().Format(time.RFC3339)
	}
	p.mustCall(agent, "PUT", path+query, "", 200)
	list[[2]string{agent, what}] = end
}

// muteWordOrNot mutes or unmutes a word that some captions have.
func (p *people) muteWordOrNot() {
	agent, all := p.anyAgent(), slices.Sorted(maps.Keys(spellings))
	word := all[p.rnd.IntN(len(all))]
	path := "/v1/agents/" + agent + "/muted/words/" + url.PathEscape(word)
	if p.rnd.IntN(3) == 0 {
		p.mustCall(agent, "DELETE", path, "", 200)
		delete(p.words, [2]string{agent, word})
		return
	}
	p.mute(p.words, path, agent, word)
}

// muteCircleOrNot mutes or unmutes a circle or a group, which the agent need not be in, or the
// invitations by an agent.
func (p *people) muteCircleOrNot() {
	agent, id, list := p.anyAgent(), fmt.Sprint("c", p.rnd.IntN(5)), "circles"
	inviter := p.rnd.IntN(4) == 0
	if inviter {
		id, list = p.anyAgent(), "invitations"
	}
	path := "/v1/agents/" + agent + "/muted/" + list + "/" + id
	unmute := p.rnd.IntN(3) == 0
	switch {
	case unmute:
		p.mustCall(agent, "DELETE", path, "", 200)
		if inviter {
			delete(p.unheard, [2]string{agent, id})
		} else {
			delete(p.hushed, [2]string{agent, id})
		}
	case inviter:
		p.mustCall(agent, "PUT", path, "", 200)
		p.unheard[[2]string{agent, id}] = true
	default:
		p.mute(p.hushed, path, agent, id)
	}
}

// createOrChangeCircle creates a circle, a group or an event, or changes its members. Mostly an
// admin does, who may add others to a group.
func (p *people) createOrChangeCircle() {
	owner, id := p.anyAgent(), fmt.Sprint("c", p.rnd.IntN(5))
	var members []string
	for range p.rnd.IntN(4) {
		members = append(members, p.anyAgent())
	}
	c, terms := p.circles[id], ""
	if c == nil {
		c = &modelCircle{id: id, owner: owner, members: map[string]int64{}, invited: map[string]bool{}}
		terms = c.terms(p)
	} else if p.rnd.IntN(2) == 0 {
		owner = c.owner
	}
	if p.rnd.IntN(4) > 0 { // mostly adds a member
		members = append(members, slices.Sorted(maps.Keys(c.members))...)
	}
	joining := slices.DeleteFunc(slices.Clone(members), func(m string) bool { return c.members[m] != 0 })
	others := slices.DeleteFunc(slices.Clone(joining), func(m string) bool { return m == owner })
	blocked := slices.ContainsFunc(joining, func(m string) bool { return p.apart(owner, m) })
	by, status := owner, 200
	body := `{`
	if p.rnd.IntN(3) > 0 {
		by, body = admin, `{"owner":"`+owner+`",`
	}
	switch {
	case c.owner != owner, c.group && by != admin && len(others) > 0, blocked:
		status = 403
	case c.group && p.over(c) && len(others) > 0:
		status = 422
	}
	list := "[]"
	if members != nil {
		list = `["` + strings.Join(members, `","`) + `"]`
	}
	p.mustCall(by, "PUT", "/v1/circles/"+id, body+terms+`"members":`+list+`}`, status)
	if status != 200 {
		return
	}
	p.circles[id] = c
	if c.group {
		p.join(c, owner)
		members = append(members, owner)
	}
	for m := range c.members {
		if !slices.Contains(members, m) {
			delete(c.members, m)
		}
	}
	slices.Sort(members) // who is added at the same time inherits in this order
	for _, m := range members {
		p.join(c, m)
	}
}

// handOver hands a group over to somebody, or renames a circle.
func (p *people) handOver() {
	c := p.anyCircle()
	if c == nil {
		return
	}
	who, to := c.owner, p.anyAgent()
	if p.rnd.IntN(4) == 0 {
		who = p.anyAgent()
	}
	_, in := c.members[to]
	status := 200
	switch {
	case who != c.owner:
		status = c.refused(who)
	case to == c.owner:
	case !c.group:
		status = 403
	case !in:
		status = 422
	}
	if p.mustCall(who, "PATCH", "/v1/circles/"+c.id, `{"owner":"`+to+`"}`, status); status == 200 {
		p.own(c, to)
	}
}

// terms chooses the properties of a new circle at random.
func (c *modelCircle) terms(p *people) string {
	n := p.rnd.IntN(5)
	if n == 0 {
		return ""
	}
	c.group, c.all, c.ownerOnly = true, p.rnd.IntN(2) == 0, p.rnd.IntN(4) == 0
	b := `"kind":"group",`
	if n == 1 {
		c.until = p.now + int64(5+p.rnd.IntN(60))
		b = fmt.Sprintf(`"kind":"event","until":%d,`, c.until)
	}
	if c.all {
		b += `"history":"all",`
	}
	if c.ownerOnly {
		b += `"post":"owner",`
	}
	return b
}

// roleOf returns an agent's role in a circle, as the agent can see it.
func (c *modelCircle) roleOf(who string) string {
	_, in := c.members[who]
	switch {
	case c.owner == who:
		return "owner"
	case c.group && in:
		return "member"
	case c.invited[who]:
		return "invited"
	}
	return ""
}

// refused returns the status for agents other than the owner.
func (c *modelCircle) refused(who string) int { return either(c.roleOf(who) == "", 404, 403) }

func (p *people) invite() {
	c := p.anyCircle()
	if c == nil {
		return
	}
	who, other := c.owner, p.anyAgent()
	if p.rnd.IntN(5) == 0 {
		who = p.anyAgent()
	}
	status := 200
	switch {
	case who != c.owner:
		status = c.refused(who)
	case !c.group:
		status = 400
	case p.over(c):
		status = 422
	case p.apart(c.owner, other), c.roleOf(other) == "" && p.refuses(other, c):
		status = 403
	}
	if p.mustCall(who, "PUT", "/v1/circles/"+c.id+"/invitations/"+other, "", status); status == 200 && c.roleOf(other) == "" {
		c.invited[other] = true
		p.note(modelNote{kind: "invitation", to: other, by: c.owner, circle: c.id})
	}
}

// joinOrDecline has an agent, mostly an invited one, join or decline.
func (p *people) joinOrDecline() {
	c := p.anyCircle()
	if c == nil {
		return
	}
	who := p.anyAgent()
	for _, name := range p.names {
		if c.invited[name] && p.rnd.IntN(3) > 0 {
			who = name
		}
	}
	if p.rnd.IntN(4) == 0 {
		p.mustCall(who, "DELETE", "/v1/circles/"+c.id+"/invitations/"+who, "", 200)
		if c.invited[who] {
			p.refused[[2]string{who, c.owner}] = p.now
		}
		delete(c.invited, who)
		return
	}
	if who == c.owner {
		return
	}
	role := c.roleOf(who)
	late := p.over(c) && role == "invited"
	if p.mustCall(who, "PUT", "/v1/circles/"+c.id+"/members/"+who, "", either(role == "", 404, either(late, 422, 200))); role != "" && !late {
		if role == "invited" {
			p.note(modelNote{kind: "joined", to: c.owner, by: who, circle: c.id})
		}
		p.join(c, who)
	}
}

func (p *people) leave() {
	c := p.anyCircle()
	if c == nil {
		return
	}
	who := p.anyAgent()
	stays := c.group && who == c.owner
	if p.mustCall(who, "DELETE", "/v1/circles/"+c.id+"/members/"+who, "", either(stays, 403, 200)); !stays {
		if _, in := c.members[who]; in && c.group {
			p.refused[[2]string{who, c.owner + "/" + c.id}] = p.now
		}
		delete(c.members, who)
	}
}

// ownerChanges has the owner add or remove a member, or delete the circle.
func (p *people) ownerChanges() {
	c := p.anyCircle()
	if c == nil {
		return
	}
	other := p.anyAgent()
	path := "/v1/circles/" + c.id + "/members/" + other
	switch p.rnd.IntN(6) {
	case 4, 5:
		p.handOver()
	case 0:
		p.mustCall(c.owner, "DELETE", "/v1/circles/"+c.id, "", 200)
		p.drop(c)
	case 1:
		if other != c.owner {
			p.mustCall(c.owner, "DELETE", path, "", 200)
			delete(c.members, other)
		}
	default:
		_, in := c.members[other]
		who, status := c.owner, 200
		if p.rnd.IntN(2) == 0 {
			who = admin
		}
		switch {
		case in:
		case p.apart(c.owner, other), c.group && who != admin:
			status = 403
		case c.group && p.over(c):
			status = 422
		}
		if p.mustCall(who, "PUT", path, "", status); status == 200 {
			p.join(c, other)
		}
	}
}

// peopleServer is a server whose clock differs from that of others.
type peopleServer struct {
	app   *App
	clock *clock
	apart time.Duration
}

// serversOfPeople opens two servers over the same services, or an embedded one.
func serversOfPeople(t *testing.T, m mode, cfg configs.Config, now *clock, seed uint64) []*peopleServer {
	one := &peopleServer{app: open(t, cfg, WithClock(now.Now)), clock: now}
	if m.name != "services" || !clocksDiffer(seed) {
		return []*peopleServer{one}
	}
	apart := []time.Duration{time.Minute, -time.Minute, 20 * time.Second, -800 * time.Millisecond}[seed/2%4]
	two := &peopleServer{clock: at(now.Now().Add(apart)), apart: apart}
	cfg.DataDir = t.TempDir()
	two.app = open(t, cfg, func(s *settings) { s.clock, s.queueClock = two.clock.Now, now.Now })
	return []*peopleServer{one, two}
}

// clocksDiffer reports whether clocks differ or jump in the run of a seed. In the other runs
// another system reports posts again: such a report has a time, which is compared with joinings.
func clocksDiffer(seed uint64) bool { return seed%2 == 1 }

// advance advances the clocks of all servers.
func (p *people) advance(d time.Duration) {
	for _, s := range p.servers {
		s.clock.Advance(d)
	}
	p.now = p.clock.Now().Unix()
}

// callServer has the next calls go to one of the servers. A single server has its clock jump, now
// and then. It returns a function that goes back to the first server.
func (p *people) callServer() (back func()) {
	if p.skewed && len(p.servers) == 1 && p.rnd.IntN(3) == 0 {
		p.jump([]time.Duration{-time.Minute, -time.Second, 0, time.Minute}[p.rnd.IntN(4)])
	}
	s := p.servers[p.rnd.IntN(len(p.servers))]
	p.a, p.now = s.app, s.clock.Now().Unix()
	return func() { p.a, p.now = p.servers[0].app, p.clock.Now().Unix() }
}

// jump sets the clock of a single server, as far from the right time.
func (p *people) jump(apart time.Duration) {
	s := p.servers[0]
	s.clock.Advance(apart - s.apart)
	s.apart, p.now = apart, s.clock.Now().Unix()
}

// catchUp corrects the clock of a single server, and lets enough time pass for all posts to be from
// the past.
func (p *people) catchUp() {
	if len(p.servers) == 1 {
		p.jump(0)
	}
	p.advance(2 * time.Minute)
}
