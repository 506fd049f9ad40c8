package esindex

import (
	"context"
	"net/http"
)

// Connection says which connection a request is sent over. An address, such as a name or a proxy,
// may lead to another node or cluster than existing connections do.
type Connection int

const (
	AnyConnection  Connection = iota // an existing one, or a new one
	NewConnection                    // one that is closed afterwards
	NewConnections                   // a new one; older ones are not used again
)

type connectionKey struct{}

// Over returns a context whose requests are sent over such a connection.
func Over(ctx context.Context, c Connection) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// ConnectionOf returns the connection that the requests of a context are sent over.
func ConnectionOf(ctx context.Context) Connection {
	c, _ := ctx.Value(connectionKey{}).(Connection)
	return c
}

// Renew replaces the connections of a client: later requests go where the addresses lead now.
func Renew(ctx context.Context, client Client) error {
	return Do(Over(ctx, NewConnections), client, http.MethodHead, "/", "", nil, nil)
}
