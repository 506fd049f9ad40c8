package handler

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/social"
)

const streamPath = "/v1/stream"

const (
	// heartbeat is the pause between two comments that keep a stream open: proxies
	// close what is silent for 30 s or a minute.
	heartbeat = 15 * time.Second
	// streamWrite is how long a client may take to accept what is sent.
	streamWrite = 10 * time.Second
	// streamLife is about how long a stream stays open. Who has connected again has
	// proved again who they are, and streams spread over the servers that there are.
	streamLife = 30 * time.Minute
	// reconnect is about how long clients wait until they connect again, so that
	// those of a server that stops do not all come at once.
	reconnect = 3 * time.Second
)

// noEvent is the id of an event in a timeline that was empty.
const noEvent = "0"

// Watcher watches timelines. [engine.Watcher] implements it.
type Watcher interface {
	// Watch begins to watch an agent's timeline from a position on, nil for what it
	// has now. The caller must close the watch. Errors are [engine.ErrAgentWatches],
	// [engine.ErrWatches], or wrap [feed.ErrBadID] or a store's ErrUnavailable.
	Watch(ctx context.Context, agent string, since *social.Position) (*engine.Watch, error)
}

var (
	eventStream = []string{"text/event-stream"}
	// unbuffered asks nginx and those who do as it does to pass on what is sent.
	unbuffered = []string{"no"}
)

// getStream answers GET /v1/stream. It is outside the gate: a stream that waits
// costs next to nothing, and the bounds of streams are the watcher's.
func (s *server) getStream(c *call) error {
	agent, err := s.member(c)
	if err != nil {
		return err
	}
	since, err := lastEvent(c.gin.Request)
	if err != nil {
		return err
	}
	watch, err := s.beginWatch(c, agent, since)
	if err != nil {
		return err
	}
	defer watch.Close()
	c.stream(watch)
	return nil
}

// beginWatch begins to watch on another goroutine: what the stores need of a stack
// would stay with the stream, and be most of its memory.
func (s *server) beginWatch(c *call, agent string, since *social.Position) (watch *engine.Watch, err error) {
	ctx, cancel := s.deadline(c)
	defer cancel()
	var begun errgroup.Group
	begun.Go(func() (err error) {
		watch, err = s.deps.Social.Watcher.Watch(ctx, agent, since)
		return err
	})
	err = begun.Wait()
	return watch, err
}

// lastEvent reads Last-Event-ID; nil: there is none.
func lastEvent(r *http.Request) (*social.Position, error) {
	id := r.Header.Get("Last-Event-ID")
	if id == "" {
		return nil, nil
	}
	var p social.Position
	if id == noEvent {
		return &p, nil
	}
	p, ok := parsePosition(id)
	if !ok {
		return nil, fmt.Errorf("%w: Last-Event-ID must be the id of an event, <post id>:<Unix seconds>, not %.80q", errBadRequest, id)
	}
	return &p, nil
}

func eventID(p social.Position) string {
	if p.Zero() {
		return noEvent
	}
	return cursorOf(p)
}

// about is a time near d, so that what begins together does not end together.
func about(d time.Duration) time.Duration { return d*2/3 + rand.N(d*2/3) }

// stream sends what a watch tells until the client leaves or the server stops.
func (c *call) stream(watch *engine.Watch) {
	h := c.gin.Writer.Header()
	h["Content-Type"] = eventStream
	h["Cache-Control"] = forCaller
	h.Add("Vary", callerHeaders)
	h["X-Content-Type-Options"] = noSniff
	h["X-Accel-Buffering"] = unbuffered
	out := http.NewResponseController(c.gin.Writer)
	// The server's bound for the arrival of a request would end the stream. An error
	// says that the connection has no deadlines.
	_ = out.SetReadDeadline(time.Time{})
	// An id alone is no event, and is what the client sends when it connects again.
	begin := fmt.Sprintf("retry: %d\nid: %s\n\n", about(reconnect).Milliseconds(), eventID(watch.Start()))
	if !c.push(out, begin) {
		return
	}
	beat, life := time.NewTicker(heartbeat), time.NewTimer(about(streamLife))
	defer beat.Stop()
	defer life.Stop()
	for sent := true; sent; {
		select {
		case <-watch.Ready():
			if news := watch.Take(); news.Count > 0 {
				sent = c.push(out, "id: "+eventID(news.Head)+"\nevent: new\ndata: {\"count\":"+strconv.Itoa(news.Count)+"}\n\n")
			}
		case <-beat.C:
			sent = c.push(out, ":\n\n")
		case <-life.C:
			sent = false
		case <-watch.Ended():
			sent = false
		case <-c.gin.Request.Context().Done():
			return
		}
	}
	_ = out.SetWriteDeadline(time.Now().Add(streamWrite)) // for the end of the answer
}

// push sends text at once. false: the client does not take it.
func (c *call) push(out *http.ResponseController, text string) bool {
	_ = out.SetWriteDeadline(time.Now().Add(streamWrite))
	if _, err := c.gin.Writer.WriteString(text); err != nil {
		return false
	}
	return out.Flush() == nil
}
