package faultproxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
)

// conn is one connection of a client and its counterpart to the server.
type conn struct {
	p              *Proxy
	client, server *net.TCPConn
	protocol       protocol

	mu      sync.Mutex
	settled sync.Cond // signals that waiting is empty
	waiting []request // sent to the server and not answered yet, oldest first
	hits    []*Armed  // faults that happened here; used only by requests until that has ended
}

// request describes how to treat the reply.
type request struct {
	hit    *Armed // nil means no fault
	layout bool   // it queries the cluster's layout
}

func newConn(p *Proxy, client, server *net.TCPConn) *conn {
	c := &conn{p: p, client: client, server: server, protocol: p.protocol()}
	c.settled.L = &c.mu
	return c
}

// run forwards data until both ends are closed.
func (c *conn) run() {
	var replies sync.WaitGroup
	replies.Go(c.replies)
	c.requests()
	// Data that the client has sent reaches the server even if the client has hung up.
	_ = c.server.CloseWrite()
	replies.Wait()
	for _, hit := range c.hits { // other faults have no further effect on a closed connection
		hit.end()
	}
}

// hangUp closes both ends.
func (c *conn) hangUp() {
	_ = c.client.Close()
	_ = c.server.Close()
}

// requests forwards requests until the client hangs up or a fault cuts it off.
func (c *conn) requests() {
	in := bufio.NewReader(c.client)
	for {
		frame, cmd, err := c.protocol.request(in)
		if err != nil {
			if errors.Is(err, errFrame) {
				c.hangUp()
			}
			return
		}
		hit := c.p.meet(cmd)
		if hit != nil {
			c.hits = append(c.hits, hit)
		}
		if hit.is(Before) {
			c.await()
			c.cut(hit)
			_, _ = io.Copy(io.Discard, in)
			return
		}
		if hit.is(Stall) {
			c.p.pause(hit)
		}
		c.push(request{hit: hit, layout: len(c.p.ports) > 0 && cmd.Name() == "cluster" && strings.EqualFold(cmd[1], "slots")})
		if _, err := c.server.Write(frame); err != nil {
			return
		}
		if hit.is(After) || hit.is(Within) {
			_, _ = io.Copy(io.Discard, in)
			return
		}
	}
}

// replies forwards replies until the server hangs up or a fault cuts the client off.
func (c *conn) replies() {
	defer c.hangUp()
	defer c.release()
	in := bufio.NewReader(c.server)
	for {
		frame, err := c.protocol.reply(in)
		if err != nil {
			return
		}
		if frame[0] == pushed { // it is not a reply to a request
			_, _ = c.client.Write(frame)
			continue
		}
		of := c.oldest()
		if of.layout {
			frame = c.p.rename(frame)
		}
		switch hit := of.hit; {
		case hit.is(After), hit.is(Within):
			if hit.is(Within) {
				_, _ = c.client.Write(frame[:max(1, len(frame)/2)])
			}
			c.cut(hit)
			_, _ = io.Copy(io.Discard, in) // until the client has noticed
			return
		case hit.is(Late):
			c.p.pause(hit)
		}
		_, _ = c.client.Write(frame) // a client that hung up does not stop its requests
		c.answered()
		if of.hit != nil {
			of.hit.end()
		}
	}
}

// cut closes the connection for the client. Everything written before reaches it, since the other
// direction stays open until the client has noticed.
func (c *conn) cut(hit *Armed) {
	if hit.fault.Refuse > 0 {
		c.p.refuse(c, hit.fault.Refuse)
	}
	_ = c.client.CloseWrite()
	hit.end()
}

func (c *conn) push(r request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, r)
}

// oldest returns the request that the next reply answers.
func (c *conn) oldest() request {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		return request{}
	}
	return c.waiting[0]
}

// answered removes the oldest request after its reply was written to the client.
func (c *conn) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) > 0 {
		c.waiting = c.waiting[1:]
	}
	if len(c.waiting) == 0 {
		c.settled.Broadcast()
	}
}

// await waits until all requests sent so far are answered.
func (c *conn) await() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.waiting) > 0 {
		c.settled.Wait()
	}
}

// release ends the wait for replies that will not come.
func (c *conn) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = nil
	c.settled.Broadcast()
}
