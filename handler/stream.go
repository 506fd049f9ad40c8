package handler

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social"
)

const streamPath = "/v1/stream"

const (
	// heartbeat is the interval of comments that keep a stream open: proxies close connections
	// that are idle for 30 s or a minute.
	heartbeat = 15 * time.Second
	// streamWrite is how long a client may take to accept data.
	streamWrite = 10 * time.Second
	// streamLife is approximately how long a stream stays open. Reconnecting authenticates the
	// reader again and redistributes streams over the servers.
	streamLife = 30 * time.Minute
	// reconnect is approximately how long clients wait before they reconnect, so that those of a
	// stopping server do not all reconnect at once.
	reconnect = 3 * time.Second
)

// noEvent is the event id for an empty timeline.
const noEvent = "0"

// Watcher watches timelines. Its methods are those of [timeline.Watcher].
type Watcher interface {
	WatchFrom(ctx context.Context, agent string, since *timeline.Point) (*timeline.Watch, error)
	Occupy() (leave func(), ended <-chan struct{}, err error)
}

var (
	eventStream = []string{"text/event-stream"}
	// unbuffered asks nginx and compatible proxies not to buffer the answer.
	unbuffered = []string{"no"}
	// uncompressed also asks proxies not to compress, because that holds events back.
	uncompressed = []string{forCaller[0] + ", no-transform"}
)

// lastChunk ends a body of chunks.
const lastChunk = "0\r\n\r\n"

// getStream answers GET /v1/stream. It is outside the gate: an idle stream costs
// almost nothing, and the watcher limits the number of streams.
//
// A stream hijacks its connection from the HTTP server, whose buffers and stack would
// account for most of its memory.
func (s *server) getStream(c *call) error {
	agent, err := s.member(c)
	if err != nil {
		return err
	}
	until, err := s.auth.until(c.gin.Request)
	if err != nil {
		return err
	}
	var ask streamQuery
	if err := c.decodeQuery(&ask); err != nil {
		return err
	}
	since, err := lastEvent(cmp.Or(c.gin.Request.Header.Get("Last-Event-ID"), string(ask.LastEventID)))
	if err != nil {
		return err
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	watch, err := s.deps.Social.Watcher.WatchFrom(ctx, agent, since)
	if err != nil {
		return err
	}
	chunked := c.gin.Request.ProtoAtLeast(1, 1)
	head := c.streamHead(chunked)
	if c.gin.Request.Method == http.MethodHead {
		watch.Close()
		c.gin.Writer.WriteHeader(http.StatusOK)
		return nil
	}
	conn, _, err := http.NewResponseController(c.gin.Writer).Hijack()
	if err != nil {
		watch.Close()
		return err
	}
	var left time.Duration
	if !until.IsZero() {
		left = max(until.Sub(s.cfg.Clock()), time.Nanosecond)
	}
	ended := s.auth.ended(c.gin.Request, agent)
	// It runs outside of any route: a panic ends only this stream.
	go safego.Log(s.log, "a stream", func() { stream{conn, watch, s.deps.Drain, left, ended, chunked}.run(head) })
	return nil
}

// streamQuery has what an EventSource cannot send in a header when it begins.
type streamQuery struct {
	LastEventID queryText `json:"lastEventId"`
}

// arrivalMark separates, in the id of an event, the id of a post from the stamp up to which late posts
// were reported. All characters are those of a post id, so that the whole is a position for servers of
// 0.1.0, and a cursor: the stamp moves it by less than any other post of that second.
const arrivalMark = ".-."

// lastEvent parses the id of an event; nil if it is empty. Ids of 0.1.0, and cursors, have no stamp.
func lastEvent(id string) (*timeline.Point, error) {
	if id == "" {
		return nil, nil
	}
	if id == noEvent {
		return &timeline.Point{}, nil
	}
	p, ok := parsePosition(id)
	if !ok {
		return nil, fmt.Errorf("%w: Last-Event-ID must be the id of an event, <post id>:<Unix seconds>, not %.80q", feed.ErrInvalid, id)
	}
	point := timeline.Point{Position: p}
	i := strings.LastIndex(p.ID, arrivalMark)
	if i > len(social.PostPrefix) {
		stamp, err := strconv.ParseInt(p.ID[i+len(arrivalMark):], 10, 64)
		if err == nil && stamp > 0 {
			point = timeline.Point{Position: social.Position{At: p.At, ID: p.ID[:i]}, Arrived: stamp}
		}
	}
	return &point, nil
}

// eventID returns the id of an event. The stamp is left out if there is no room for it.
func eventID(p timeline.Point) string {
	if p.Position.Zero() {
		return noEvent
	}
	marked := p.Position
	marked.ID += arrivalMark + strconv.FormatInt(p.Arrived, 10)
	if p.Arrived > 0 && social.CheckPostID(marked.ID) == nil {
		return cursorOf(marked)
	}
	return cursorOf(p.Position)
}

// about returns a random time near d, so that streams opened together do not end together.
func about(d time.Duration) time.Duration { return d*2/3 + rand.N(d*2/3) }

// streamHead returns the head of the answer.
func (c *call) streamHead(chunked bool) []byte {
	h := c.gin.Writer.Header()
	h["Content-Type"] = eventStream
	h["Cache-Control"] = uncompressed
	h.Add("Vary", callerHeaders)
	h["X-Content-Type-Options"] = noSniff
	h["X-Accel-Buffering"] = unbuffered
	h["Connection"] = closing // the answer ends when the connection closes
	h["Date"] = []string{c.start.UTC().Format(http.TimeFormat)}
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 200 OK\r\n")
	if chunked {
		b.WriteString("Transfer-Encoding: chunked\r\n")
	}
	_ = h.Write(&b) // writing to a buffer does not fail
	b.WriteString("\r\n")
	return b.Bytes()
}

// stream sends the events of a watch.
type stream struct {
	conn  net.Conn
	watch *timeline.Watch
	drain *Drain        // may be nil
	left  time.Duration // until the reader's credentials expire; 0 if they do not
	ended func() bool   // reports whether they are from before an erasure by now; nil if they never are
	// chunked says that each event is a chunk. Without chunks, clients that read a body in pieces of a
	// fixed size wait until a piece is full. HTTP/1.0 has no chunks.
	chunked bool
}

// run sends until the client disconnects, the server stops, the stream's time is up or the
// reader's credentials expire.
func (s stream) run(head []byte) {
	defer s.watch.Close()
	defer func() { _ = s.conn.Close() }()
	left := make(chan struct{})
	go func() {
		defer close(left)
		_ = safego.Run(func() error {
			_, err := s.conn.Read(make([]byte, 1)) // returns when the client disconnects or sends anything
			return err
		})
	}()
	beat, life := time.NewTicker(heartbeat), time.NewTimer(about(streamLife))
	defer beat.Stop()
	defer life.Stop()
	var expired <-chan time.Time
	if s.left > 0 {
		expiry := time.NewTimer(s.left)
		defer expiry.Stop()
		expired = expiry.C
	}
	drain := s.drain.begins()
	for sent := s.push(append(head, s.chunk(s.first())...)); sent; {
		if s.ended != nil && s.ended() {
			s.end()
			return
		}
		select {
		case <-drain:
			drain = nil // only once: the stream continues until its share is over
			life.Reset(s.drain.share())
		case <-s.watch.Ready():
			if s.ended != nil && s.ended() {
				continue
			}
			events := s.events()
			if len(events) > 0 {
				sent = s.push(s.chunk(events))
			}
		case <-beat.C:
			// No blank line: some libraries take one after a comment for an event without data.
			sent = s.push(s.chunk([]byte(":\n")))
		case <-life.C:
			s.end()
			return
		case <-expired:
			s.end()
			return
		case <-s.watch.Ended():
			s.end()
			return
		case <-left:
			return
		}
	}
}

// first returns the first event, whose id the client sends when it reconnects. It has data, because
// some libraries ignore the id of a block without.
func (s stream) first() []byte {
	return fmt.Appendf(nil, "retry: %d\nid: %s\nevent: ready\ndata: {}\n\n", about(reconnect).Milliseconds(), eventID(s.watch.StartPoint()))
}

// events returns the events of what there is to take. One of notifications has no id: it is no position in
// the timeline.
func (s stream) events() (out []byte) {
	news := s.watch.Take()
	if news.Count > 0 {
		out = fmt.Appendf(out, "id: %s\nevent: new\ndata: {\"count\":%d}\n\n", eventID(timeline.Point{Position: news.Head, Arrived: news.Arrived}), news.Count)
	}
	unread, changed := s.watch.TakeUnread()
	if changed {
		out = fmt.Appendf(out, "event: notification\ndata: {\"unread\":%d}\n\n", unread)
	}
	return out
}

// chunk returns text as a part of the body.
func (s stream) chunk(text []byte) []byte {
	if !s.chunked {
		return text
	}
	return fmt.Appendf(nil, "%x\r\n%s\r\n", len(text), text)
}

// end ends the body, unless the client is slow: the end of the connection ends it, too.
func (s stream) end() {
	if s.chunked && s.conn.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		_, _ = s.conn.Write([]byte(lastChunk))
	}
}

// push sends data and reports whether the client accepted it.
func (s stream) push(text []byte) bool {
	if s.conn.SetWriteDeadline(time.Now().Add(streamWrite)) != nil {
		return false
	}
	_, err := s.conn.Write(text)
	return err == nil
}
