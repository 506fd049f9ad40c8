package postgres

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// firstWait is how long an address may take to accept a connection while there are others to try.
	firstWait = time.Second
	// silentFor is how long an address that did not answer is tried after all others.
	silentFor = 30 * time.Second
)

// dialer connects to the addresses of PostgreSQL. The driver tries them one after the other, those of IPv6
// first, and gives each the whole time for connecting, also where IPv6 leads nowhere, or the machine of the
// first of several hosts is off. So an address has to answer soon while there are others, and one that
// did not is tried last for a while.
type dialer struct {
	lookup pgconn.LookupFunc
	dial   pgconn.DialFunc
	first  time.Duration // see firstWait
	log    *slog.Logger  // may be nil
	// acrossHosts means that one of several hosts is as good as another, because target_session_attrs
	// chooses among them. Otherwise only the addresses of one host are.
	acrossHosts bool

	mu        sync.Mutex
	addresses map[string][]string  // of each host, as last looked up
	silent    map[string]time.Time // when an address did not answer
}

// newDialer makes a configuration use a dialer.
func newDialer(c *pgx.ConnConfig, log *slog.Logger) *dialer {
	d := &dialer{
		lookup: c.LookupFunc, dial: c.DialFunc, first: firstWait, log: log, acrossHosts: c.ValidateConnect != nil,
		addresses: map[string][]string{}, silent: map[string]time.Time{},
	}
	c.LookupFunc, c.DialFunc = d.lookUp, d.connect
	return d
}

// lookUp returns the addresses of a host, those that do not answer last.
func (d *dialer) lookUp(ctx context.Context, host string) ([]string, error) {
	found, err := d.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, former := range d.addresses[host] {
		if !slices.Contains(found, former) {
			delete(d.silent, former)
		}
	}
	d.addresses[host] = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b string) int { return d.rank(a) - d.rank(b) })
	return found, nil
}

// rank is 1 for an address that did not answer lately, otherwise 0. The caller holds the lock.
func (d *dialer) rank(address string) int {
	at, isSilent := d.silent[address]
	if isSilent && time.Since(at) < silentFor {
		return 1
	}
	return 0
}

// order puts hosts of which no address answers behind the others.
func (d *dialer) order(c *pgx.ConnConfig) {
	if !d.acrossHosts {
		return
	}
	all := append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.SortStableFunc(all, func(a, b *pgconn.FallbackConfig) int { return d.hostRank(a.Host) - d.hostRank(b.Host) })
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = all[0].Host, all[0].Port, all[0].TLSConfig, all[1:]
}

// hostRank is the rank of the best address of a host.
func (d *dialer) hostRank(host string) int {
	if len(d.addresses[host]) == 0 {
		return 0
	}
	return d.rank(slices.MinFunc(d.addresses[host], func(a, b string) int { return d.rank(a) - d.rank(b) }))
}

// connect dials one of the addresses.
func (d *dialer) connect(ctx context.Context, network, address string) (net.Conn, error) {
	ip, _, err := net.SplitHostPort(address)
	wait, bounded := d.waitFor(ctx, ip)
	if err != nil || !bounded {
		return d.dial(ctx, network, address)
	}
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	conn, err := d.dial(within, network, address)
	d.note(ip, address, err)
	return conn, err
}

// waitFor returns how long an address may take, if there are others that could be tried in its place.
func (d *dialer) waitFor(ctx context.Context, ip string) (wait time.Duration, bounded bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	several, others := 0, 0
	for _, addresses := range d.addresses {
		if !d.acrossHosts && !slices.Contains(addresses, ip) {
			continue
		}
		several += len(addresses)
		for _, other := range addresses {
			if other != ip && d.rank(other) == 0 {
				others++
			}
		}
	}
	if several < 2 {
		return 0, false
	}
	wait = connectTimeout
	until, limited := ctx.Deadline()
	if limited {
		wait = time.Until(until)
	}
	switch {
	case others == 0 && d.rank(ip) == 0: // the only one that may answer
		return wait, true
	case others == 0:
		return wait / time.Duration(several), true
	case d.rank(ip) > 0: // just tried, with another way to encrypt
		return min(d.first/4, wait/time.Duration(several)), true
	}
	return min(d.first, wait/time.Duration(several)), true
}

// note records whether an address answers. One that refuses does.
func (d *dialer) note(ip, address string, err error) {
	d.mu.Lock()
	was := d.rank(ip)
	switch {
	case err == nil, errors.Is(err, syscall.ECONNREFUSED):
		delete(d.silent, ip)
	case !errors.Is(err, context.Canceled):
		d.silent[ip] = time.Now()
	}
	is := d.rank(ip)
	d.mu.Unlock()
	if d.log != nil && is > was {
		d.log.Warn("PostgreSQL does not answer at one of its addresses; for a while it is tried after the others", "address", address, "error", err)
	}
}

// unanswered returns the addresses that did not answer lately.
func (d *dialer) unanswered() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []string
	for ip := range d.silent {
		if d.rank(ip) > 0 {
			list = append(list, ip)
		}
	}
	slices.Sort(list)
	return list
}
