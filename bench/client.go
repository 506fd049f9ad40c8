package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// clients is the number of concurrent clients, each with one persistent connection.
const clients = 16

// client sends requests over one connection. It is minimal because it runs on the same cores as
// the measured code: a slow client would make the two sides of a ratio look alike.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
	body []byte
}

func dial(ctx context.Context, addr string) (*client, error) { return dialSized(ctx, addr, 64<<10) }

// dialSized is dial with the size of the buffer for answers.
func dialSized(ctx context.Context, addr string, buffer int) (*client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, in: bufio.NewReaderSize(conn, buffer)}, nil
}

// post requests the agent's next page and returns the body, which is valid until the next call.
func (c *client) post(agent, action string) ([]byte, error) {
	return c.call(http.MethodPost, "/v1/feed", agent, `{"action":"`+action+`","limit":`+strconv.Itoa(page)+`}`)
}

// call sends a request, without a body if that is empty, and returns the body of the answer,
// which is valid until the next call.
func (c *client) call(method, path, agent, body string) ([]byte, error) {
	c.out = fmt.Appendf(c.out[:0], "%s %s HTTP/1.1\r\nHost: bench\r\nX-Agent-ID: %s\r\n", method, path, agent)
	if body != "" {
		c.out = fmt.Appendf(c.out, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	c.out = append(append(c.out, "\r\n"...), body...)
	if _, err := c.conn.Write(c.out); err != nil {
		return nil, err
	}
	size := -1
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		switch {
		case err != nil:
			return nil, err
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 20")):
			return nil, fmt.Errorf("answered %q", line)
		case len(line) == 2: // the end of the header
			if size < 0 {
				return nil, errors.New("the answer has no Content-Length")
			}
			c.body = slices.Grow(c.body[:0], size)[:size]
			_, err = io.ReadFull(c.in, c.body)
			return c.body, err
		}
		if length, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if size, err = strconv.Atoi(string(bytes.TrimSpace(length))); err != nil {
				return nil, err
			}
		}
	}
}

// load makes the clients request every page of their agents' sessions, round-robin over the
// agents. Each page must have at least least bytes.
func load(ctx context.Context, addr string, agents []string, least int) (turn, error) {
	conns := make([]*client, clients)
	for i := range conns {
		c, err := dial(ctx, addr)
		if err != nil {
			return turn{}, err
		}
		defer func() { _ = c.conn.Close() }()
		// Cancelling the run ends pending calls.
		defer context.AfterFunc(ctx, func() { _ = c.conn.Close() })()
		conns[i] = c
	}
	turns, errs := make([]turn, clients), make([]error, clients)
	var wg sync.WaitGroup
	start := time.Now()
	for i, c := range conns {
		wg.Go(func() {
			mine := make([]string, 0, len(agents)/clients+1)
			for at := i; at < len(agents); at += clients {
				mine = append(mine, agents[at])
			}
			turns[i], errs[i] = c.read(mine, least)
		})
	}
	wg.Wait()
	sum := turn{took: time.Since(start), times: newTimes()}
	for _, t := range turns {
		sum.answers += t.answers
		sum.times.Merge(t.times)
	}
	if err := ctx.Err(); err != nil {
		return sum, err
	}
	return sum, errors.Join(errs...)
}

// read requests the agents' pages, page by page.
func (c *client) read(agents []string, least int) (turn, error) {
	t := turn{times: newTimes()}
	for range agentPages {
		for _, agent := range agents {
			var body []byte
			took, err := timed(func() (err error) { body, err = c.post(agent, "load_more"); return err })
			if err != nil {
				return t, err
			}
			if len(body) < least {
				return t, fmt.Errorf("a page of %d bytes for %s: its session is empty", len(body), agent)
			}
			t.answers += int64(len(body))
			if err := t.times.RecordValue(int64(took)); err != nil {
				return t, err
			}
		}
	}
	return t, nil
}
