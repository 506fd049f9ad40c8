package handler

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	timelines "github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
	timelinememory "github.com/freshet/freshet/social/timeline/memory"
)

// oneAuthor is a store in which everybody sees every post, dated now.
type oneAuthor struct{}

func (oneAuthor) Pull(context.Context, social.PullQuery) ([]social.Entry, error) { return nil, nil }
func (oneAuthor) NewestPublic(context.Context, int) ([]social.Entry, error)      { return nil, nil }
func (oneAuthor) Late(context.Context, int64, int) ([]social.LatePost, int64, error) {
	return nil, 0, nil
}

func (oneAuthor) CelebritiesOf(_ context.Context, readers []string) ([]social.Pulled, error) {
	return make([]social.Pulled, len(readers)), nil
}

func (oneAuthor) CardsOf(_ context.Context, asked []social.Asked) ([]social.Card, error) {
	cards := make([]social.Card, len(asked))
	for i, p := range asked {
		cards[i] = social.Card{ID: p.ID, Visible: true, Reason: social.Follow, CreatedAt: time.Now().Unix()}
	}
	return cards, nil
}

// emptyLists builds lists without entries.
type emptyLists struct{ lists timeline.Lists }

func (e emptyLists) Outbox(context.Context, []string) error { return nil }
func (e emptyLists) Build(ctx context.Context, agent string) error {
	token, _, err := e.lists.Begin(ctx, agent)
	if err == nil {
		_, err = e.lists.Commit(ctx, agent, token, timeline.Content{})
	}
	return err
}

// streams is a server of streams that runs on the test's clock.
type streams struct {
	*pipes
	watcher *timelines.Watcher
	lists   timeline.Lists
	drain   *Drain
}

// openStreams must be called within a synctest bubble.
func openStreams(t *testing.T, change ...func(*Config)) *streams {
	s := &streams{lists: timelinememory.New(timelinememory.Config{Cap: 10, Clock: time.Now}), drain: NewDrain()}
	s.watcher = timelines.NewWatcher(timelines.WatchStores{
		Posts: oneAuthor{}, Lists: s.lists, Outboxes: s.lists, Builder: emptyLists{s.lists}, Profiles: noProfiles{},
	}, 0, timelines.Config{Clock: time.Now})
	f := newFixture(t, func(cfg *Config, d *Deps) {
		for _, fn := range change {
			fn(cfg)
		}
		d.Drain = s.drain
		d.Social = &Social{
			Store: struct{ social.Store }{}, Timelines: storeTimelines{}, Watcher: s.watcher, Queue: struct{ jobs.Queue }{}, Graph: struct{ Graph }{},
		}
	})
	// The timeouts of serve.go, much shortened.
	s.pipes = openPipes(t, &http.Server{Handler: f.handler, ReadTimeout: time.Second, WriteTimeout: time.Second, ReadHeaderTimeout: time.Second})
	s.server.RegisterOnShutdown(s.watcher.End)
	return s
}

// get opens a stream on a new, unbuffered connection.
func (s *streams) get(agent string) (conn net.Conn, body *bufio.Reader, res *http.Response) {
	return s.getAs("X-Agent-ID: " + agent)
}

// getAs is get with the header that identifies the caller.
func (s *streams) getAs(header string) (conn net.Conn, body *bufio.Reader, res *http.Response) {
	conn = s.send("GET /v1/stream HTTP/1.1\r\nHost: x\r\n" + header + "\r\nAccept-Encoding: gzip, zstd\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(s, err)
	return conn, bufio.NewReader(res.Body), res
}

// push delivers a post dated now.
func (s *streams) push(agent, id string) {
	heads, err := s.lists.Heads(s.Context(), []string{agent})
	require.NoError(s, err)
	_, err = s.lists.Push(s.Context(), []timeline.Addition{{List: agent, Version: heads[0].Version, Entries: []timeline.Position{{At: time.Now().Unix(), ID: id}}}})
	require.NoError(s, err)
	s.watcher.Poll(s.Context())
}

// block reads to the next empty line.
func block(t testing.TB, body *bufio.Reader) string {
	t.Helper()
	var b strings.Builder
	for {
		line, err := body.ReadString('\n')
		require.NoError(t, err, b.String())
		if line == "\n" {
			return b.String()
		}
		b.WriteString(line)
	}
}

// TestStreamBeyondServerTimeouts reads a stream to its regular end, beyond the timeouts of the
// server.
func TestStreamBeyondServerTimeouts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openStreams(t)
		begun := time.Now()
		_, body, res := s.get("r")
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.NotEmpty(t, res.Header.Get("X-Request-ID"))
		require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
		require.Equal(t, "no", res.Header.Get("X-Accel-Buffering"))
		require.Equal(t, "private, no-store, no-transform", res.Header.Get("Cache-Control"), "a proxy that compresses holds events back")
		require.Empty(t, res.Header.Get("Content-Encoding"))
		require.Regexp(t, `^retry: \d{4}\nid: 0\nevent: ready\ndata: {}\n$`, block(t, body), "libraries drop a block without data, and then its id")
		beat, err := body.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, ":\n", beat)
		require.Equal(t, heartbeat, time.Since(begun))
		s.push("r", "post:1")
		require.Regexp(t, `^id: post:1:\d+\nevent: new\ndata: {"count":1}\n$`, block(t, body), "some libraries take a blank line after a comment for an event")
		rest, err := io.ReadAll(body)
		require.NoError(t, err, "it has not ended well")
		require.Regexp(t, `^(:\n)+$`, string(rest), "only heartbeats")
		require.GreaterOrEqual(t, time.Since(begun), streamLife*2/3)
		require.Less(t, time.Since(begun), streamLife*4/3)
		require.NoError(t, s.server.Shutdown(t.Context()))
	})
}

// TestStreamChunks checks that each event is a chunk of its own: clients that read a body in pieces of
// a fixed size, such as those on urllib3, return a chunk at once, but wait until a piece of a body
// without chunks is full. HTTP/1.0 has no chunks.
func TestStreamChunks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openStreams(t)
		for version, chunked := range map[string]bool{"1.1": true, "1.0": false} {
			conn := s.send("GET /v1/stream HTTP/" + version + "\r\nHost: x\r\nX-Agent-ID: r\r\n\r\n")
			raw := bufio.NewReader(conn)
			var head string
			for !strings.HasSuffix(head, "\r\n\r\n") {
				line, err := raw.ReadString('\n')
				require.NoError(t, err)
				head += line
			}
			require.Equal(t, chunked, strings.Contains(head, "\r\nTransfer-Encoding: chunked\r\n"), head)
			s.push("r", "post:1"+version)
			for _, want := range []string{`event: ready`, `event: new`} {
				if !chunked {
					require.Contains(t, block(t, raw), want)
					continue
				}
				size, err := raw.ReadString('\n')
				require.NoError(t, err)
				n, err := strconv.ParseUint(strings.TrimSuffix(size, "\r\n"), 16, 16)
				require.NoError(t, err)
				chunk := make([]byte, n+2)
				_, err = io.ReadFull(raw, chunk)
				require.NoError(t, err)
				require.Contains(t, string(chunk), want)
				require.True(t, strings.HasSuffix(string(chunk), "\n\n\r\n"), "a chunk ends with its event")
			}
			require.NoError(t, conn.Close())
		}
		require.NoError(t, s.server.Shutdown(t.Context()))
	})
}

// TestStreamTokenExpires checks that a stream ends when its token expires, with the same
// leeway for clock differences as everywhere.
func TestStreamTokenExpires(t *testing.T) {
	t.Parallel()
	for _, left := range []time.Duration{time.Minute, -10 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := openStreams(t, func(cfg *Config) {
				cfg.Clock = time.Now
				cfg.Auth = Auth{Mode: ModeJWT, JWT: JWT{Secret: strings.Repeat("secret", 8), Leeway: 30 * time.Second}}
			})
			begun := time.Now()
			token := sign(t, hs256, []byte(strings.Repeat("secret", 8)), map[string]any{"sub": "r", "exp": begun.Add(left).Unix()}, nil)
			_, body, res := s.getAs("Authorization: Bearer " + token)
			require.Equal(t, http.StatusOK, res.StatusCode)
			_, err := io.ReadAll(body)
			require.NoError(t, err, "it has not ended well")
			if left < streamLife {
				require.Equal(t, left+30*time.Second, time.Since(begun))
			} else {
				require.Less(t, time.Since(begun), streamLife*4/3)
			}
			require.NoError(t, s.server.Shutdown(t.Context()))
		})
	}
}

// TestStreamClientNotReading checks that such a client is disconnected and delays no other.
func TestStreamClientNotReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openStreams(t)
		_, _, _ = s.get("stuck") // the client does not read from this connection any more
		_, body, _ := s.get("r")
		block(t, body)
		s.push("stuck", "post:1")
		s.push("r", "post:2")
		require.Contains(t, block(t, body), "post:2")
		watch := func() error { _, err := s.watcher.Watch(t.Context(), "stuck", nil); return err }
		for range timelines.AgentWatches - 1 {
			require.NoError(t, watch())
		}
		time.Sleep(streamWrite - time.Nanosecond)
		synctest.Wait()
		require.ErrorIs(t, watch(), feed.ErrTooMany)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.NoError(t, watch(), "the place is free again")
		stopped := make(chan error, 1)
		go func() { stopped <- s.server.Shutdown(t.Context()) }()
		_, err := io.ReadAll(body)
		require.NoError(t, err)
		require.NoError(t, <-stopped)
	})
}

// TestStreamClientDisconnects closes connections while the server has nothing to send. Their slots
// must become free.
func TestStreamClientDisconnects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openStreams(t)
		for range 3 * timelines.AgentWatches {
			conn, body, res := s.get("r")
			require.Equal(t, http.StatusOK, res.StatusCode)
			block(t, body)
			require.NoError(t, conn.Close())
			synctest.Wait()
		}
		require.NoError(t, s.server.Shutdown(t.Context()))
	})
}

func TestLastEventID(t *testing.T) {
	t.Parallel()
	at := func(id string, arrived int64) *timelines.Point {
		return &timelines.Point{Position: social.Position{At: 7, ID: id}, Arrived: arrived}
	}
	long := "post:" + strings.Repeat("x", 128)
	for id, want := range map[string]*timelines.Point{
		"": nil, "0": {}, "post:a:7": at("post:a", 0), "post:a.-.9:7": at("post:a", 9), "post:-.-.9:7": at("post:-", 9),
		"post:.-.9:7": at("post:.-.9", 0), "post:a.-.:7": at("post:a.-.", 0), "post:a.-.b:7": at("post:a.-.b", 0), long + ":7": at(long, 0),
	} {
		got, err := lastEvent(id)
		require.NoError(t, err)
		require.Equal(t, want, got)
		if got == nil {
			continue
		}
		require.Equal(t, id, eventID(*got))
		if !got.Position.Zero() { // servers of 0.1.0 take it for a position just above that of the post
			p, ok := parsePosition(id)
			require.True(t, ok)
			require.GreaterOrEqual(t, p.Compare(got.Position), 0)
		}
	}
	require.Equal(t, long+":7", eventID(*at(long, 9)), "there is no room for the arrival")
	for _, id := range []string{"1", "a:7", "post:a:07", "post:a:-7", "post:a", "post:a b:7"} {
		_, err := lastEvent(id)
		require.True(t, errors.Is(err, feed.ErrInvalid), id)
	}
}

// TestLastEventIDInTheQuery checks that a stream begins there, unless a header says where it goes on: a
// library repeats the query when it reconnects.
func TestLastEventIDInTheQuery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openStreams(t)
		for header, want := range map[string]string{"": "post:a:7", "Last-Event-ID: post:b:8\r\n": "post:b:8"} {
			conn := s.send("GET /v1/stream?lastEventId=post:a:7 HTTP/1.1\r\nHost: x\r\nX-Agent-ID: r\r\n" + header + "\r\n")
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			require.Contains(t, block(t, bufio.NewReader(res.Body)), "id: "+want+"\n")
			require.NoError(t, conn.Close())
		}
		require.NoError(t, s.server.Shutdown(t.Context()))
	})
}

// brokenWatcher returns watches that panic when waited for.
type brokenWatcher struct{}

func (brokenWatcher) WatchFrom(context.Context, string, *timelines.Point) (*timelines.Watch, error) {
	return new(timelines.Watch), nil
}

func (brokenWatcher) Occupy() (leave func(), ended <-chan struct{}, err error) {
	return func() {}, nil, nil
}

// TestStreamPanic checks that a panic in a stream, which runs outside of any route,
// does not end the process.
func TestStreamPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(_ *Config, d *Deps) {
			d.Social = &Social{
				Store: struct{ social.Store }{}, Timelines: storeTimelines{}, Watcher: brokenWatcher{}, Queue: struct{ jobs.Queue }{}, Graph: struct{ Graph }{},
			}
		})
		s := &streams{pipes: openPipes(t, &http.Server{Handler: f.handler, ReadHeaderTimeout: time.Second})}
		for range 2 {
			_, body, res := s.get("u_1")
			require.Equal(t, http.StatusOK, res.StatusCode)
			rest, err := io.ReadAll(body)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "it was cut off")
			require.Contains(t, string(rest), "id: 0\n")
		}
		synctest.Wait()
		require.Contains(t, f.log.String(), `"doing":"a stream"`)
	})
}
