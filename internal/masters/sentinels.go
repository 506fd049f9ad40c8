package masters

import (
	"context"
	"errors"
	"net"

	"github.com/redis/go-redis/v9"
)

// sentinels are asked who the master is. The client library waits to be told,
// and the Sentinel that leads a failover tells only when it has set up every
// replica, seconds after it has promoted one. To who asks, it says so at once.
type sentinels struct {
	name    string
	clients []*redis.SentinelClient
	master  string // that the connections of this process go to; "": not known yet
	next    string // that is to be instead
}

// replaced reports whether the first Sentinel that answers names another
// master than the one that is followed.
func (s *sentinels) replaced(ctx context.Context) bool {
	if s == nil {
		return false
	}
	for i, c := range s.clients {
		addr, err := c.GetMasterAddrByName(ctx, s.name).Result()
		if err != nil || len(addr) != 2 {
			continue
		}
		s.clients[0], s.clients[i] = s.clients[i], s.clients[0]
		s.next = net.JoinHostPort(addr[0], addr[1])
		if s.master == "" {
			s.followed()
		}
		break
	}
	return s.next != s.master
}

// followed says that connections go to the new master.
func (s *sentinels) followed() {
	if s != nil {
		s.master = s.next
	}
}

func (s *sentinels) close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, c := range s.clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// redial makes a client drop its connections to a master that was replaced. It
// does so when it dials, and for a subscription it dials at once.
func redial(ctx context.Context, client redis.UniversalClient) {
	if c, ok := client.(*redis.Client); ok {
		s := c.Subscribe(ctx)
		_ = s.Ping(ctx)
		_ = s.Close()
	}
}
