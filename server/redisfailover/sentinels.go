package redisfailover

import (
	"context"
	"errors"
	"net"

	"github.com/redis/go-redis/v9"
)

// sentinels polls the Sentinels for the master. The client library waits for a notification, which
// the Sentinel that leads a failover sends only after it has reconfigured every replica, seconds
// after the promotion. A query returns the new master at once.
type sentinels struct {
	name    string
	clients []*redis.SentinelClient
	master  string // the master that this process is connected to; "" means unknown
	next    string // the master to follow
}

// replaced reports whether the first Sentinel that answers names another master than the one
// followed.
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

// followed records that connections go to the new master.
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

// redial makes a client drop its connections to a master that was replaced. The client does so when
// it dials, and a subscription makes it dial immediately.
func redial(ctx context.Context, client redis.UniversalClient) {
	if c, ok := client.(*redis.Client); ok {
		s := c.Subscribe(ctx)
		_ = s.Ping(ctx)
		_ = s.Close()
	}
}
