package connect

import (
	"context"
	"errors"
	"net"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
)

// Announced returns the address of a failed connection that no setting names: Sentinels or a cluster
// have given it as that of a master. It is "" if the connection did not fail, or went to an address
// of the settings.
func Announced(ctx context.Context, client redis.UniversalClient, of configs.RedisServer, err error) string {
	_, cluster := client.(*redis.ClusterClient)
	var dial *net.OpError
	if !cluster && of.MasterName == "" || !errors.As(err, &dial) || dial.Op != "dial" || dial.Addr == nil {
		return ""
	}
	failed := dial.Addr.String()
	for _, addr := range of.Addrs {
		if slices.Contains(resolved(ctx, addr), failed) {
			return ""
		}
	}
	return failed
}

// resolved returns an address, and those that its host name stands for.
func resolved(ctx context.Context, addr string) []string {
	all := []string{addr}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return all
	}
	found, _ := net.DefaultResolver.LookupHost(ctx, host) // without an answer the name stands for nothing
	for _, ip := range found {
		all = append(all, net.JoinHostPort(ip, port))
	}
	return all
}
