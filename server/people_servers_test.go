package server

import (
	"testing"
	"time"

	"github.com/freshet/freshet/configs"
)

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

// clocksDiffer reports whether clocks differ or jump in the run of a seed. In the other runs another
// system reports posts again: such a report has a time, which is compared with joinings.
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
