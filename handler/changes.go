package handler

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

const changesPath = "/v1/changes"

const (
	// longestChangesWait is the longest wait of a call that is no stream.
	longestChangesWait = 30 * time.Second
	// changesPause is the pause between two reads while there are no changes.
	changesPause = 500 * time.Millisecond
	// defaultChanges is the number of changes of a call that names none.
	defaultChanges = 100
)

var ndjsonLines = []string{"application/x-ndjson"}

// changesQuery are the parameters of GET /v1/changes.
type changesQuery struct {
	After queryText `json:"after"`
	Wait  queryText `json:"wait"`
	Types queryText `json:"types"`
	Limit int       `json:"limit"`
}

// changesCall is a call of GET /v1/changes.
type changesCall struct {
	*call
	s       *server
	out     *http.ResponseController
	after   string
	wait    time.Duration
	types   []social.ChangeType
	limit   int
	stream  bool
	ended   <-chan struct{} // the server stops; nil if the call does not wait
	started bool            // the head was sent
}

// getChanges answers GET /v1/changes: with a stream of events, or with lines of JSON, for which it waits
// if there are none. Calls that wait count as streams.
func (s *server) getChanges(c *call) error {
	ask := changesQuery{Limit: defaultChanges}
	if err := c.decodeQuery(&ask); err != nil {
		return err
	}
	wait, err := ask.wait()
	if err != nil {
		return err
	}
	if err := feed.CheckLimit(ask.Limit, social.MaxChanges); err != nil {
		return err
	}
	q := &changesCall{
		call: c, s: s, out: http.NewResponseController(c.gin.Writer), wait: wait, limit: ask.Limit,
		after:  cmp.Or(c.gin.Request.Header.Get("Last-Event-ID"), string(ask.After)),
		stream: strings.Contains(c.gin.Request.Header.Get("Accept"), eventStream[0]),
	}
	for name := range strings.SplitSeq(string(ask.Types), ",") {
		if name != "" {
			q.types = append(q.types, social.ChangeType(name))
		}
	}
	if c.gin.Request.Method == http.MethodHead {
		q.wait = 0
	} else if q.stream || q.wait > 0 {
		leave, ended, err := s.deps.Social.Watcher.Occupy()
		if err != nil {
			return err
		}
		defer leave()
		q.ended = ended
	}
	// The time to read the request is over before a stream is; not all connections have a deadline.
	_ = q.out.SetReadDeadline(time.Time{})
	if q.stream {
		return q.events()
	}
	return q.lines()
}

func (q *changesQuery) wait() (time.Duration, error) {
	if q.Wait == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(string(q.Wait))
	if err != nil || wait < 0 {
		return 0, fmt.Errorf("%w: wait must be a duration such as 30s, not %.40q", feed.ErrInvalid, q.Wait)
	}
	return min(wait, longestChangesWait), nil
}

// next reads the changes after the last ones.
func (q *changesCall) next() (social.ChangePage, error) {
	ctx, cancel := q.s.deadline(q.call)
	defer cancel()
	page, err := q.s.deps.Social.Store.Changes(ctx, q.after, q.types, q.limit)
	if err == nil {
		q.after = page.Next
	}
	return page, err
}

// lines sends a line for each change, and at last one with the cursor alone, so that a client knows that
// it has all of the answer.
func (q *changesCall) lines() error {
	over := time.NewTimer(q.wait)
	defer over.Stop()
	for {
		page, err := q.next()
		if err != nil {
			return err
		}
		waits := len(page.Changes) == 0 && q.wait > 0
		if !page.More && waits {
			waits = q.pause(over.C) == nil
		}
		if waits {
			continue
		}
		var out []byte
		for _, c := range page.Changes {
			out = append(out, changeLine(c)...)
		}
		q.begin(ndjsonLines, forCaller)
		q.send(append(out, changeLine(social.Change{Cursor: page.Next})...))
		return nil
	}
}

// events sends server-sent events until the client leaves, the server stops, or the time of the stream
// is over.
func (q *changesCall) events() error {
	life := time.NewTimer(about(streamLife))
	defer life.Stop()
	told, beat := "", time.Now()
	for {
		page, err := q.next()
		switch {
		case err != nil && !q.started:
			return err
		case err != nil: // the client connects again, and gets the error
			q.cause = err
			return nil
		}
		var out []byte
		if !q.started {
			q.gin.Writer.Header()["X-Accel-Buffering"], q.gin.Writer.Header()["Connection"] = unbuffered, closing
			q.begin(eventStream, uncompressed)
			out = fmt.Appendf(out, "retry: %d\n", about(reconnect).Milliseconds())
		}
		for _, c := range page.Changes {
			told = c.Cursor
			out = appendEvent(out, string(c.Type), c)
		}
		if len(page.Changes) == 0 && (told == "" || time.Since(beat) >= heartbeat) {
			told, beat = page.Next, time.Now() // also keeps the connection, and the cursor from becoming too old
			out = appendEvent(out, "cursor", social.Change{Cursor: page.Next})
		}
		q.started = true
		if !q.send(out) || q.gin.Request.Method == http.MethodHead {
			return nil
		}
		if !page.More && q.pause(life.C) != nil {
			return nil
		}
	}
}

func appendEvent(out []byte, name string, c social.Change) []byte {
	return fmt.Appendf(out, "id: %s\nevent: %s\ndata: %s\n", c.Cursor, name, changeLine(c))
}

// begin sends the head of the answer, which no cache may store.
func (q *changesCall) begin(kind, cached []string) {
	h := q.gin.Writer.Header()
	h["Content-Type"], h["Cache-Control"] = kind, cached
	h.Add("Vary", callerHeaders)
	h["X-Content-Type-Options"] = noSniff
	q.gin.Writer.WriteHeader(http.StatusOK)
	q.gin.Writer.WriteHeaderNow()
}

// send sends a part of the body, and reports whether the client took it.
func (q *changesCall) send(out []byte) bool {
	_ = q.out.SetWriteDeadline(time.Now().Add(streamWrite))
	_, err := q.gin.Writer.Write(out)
	if err == nil {
		err = q.out.Flush()
	}
	q.unsent = q.unsent || err != nil
	return err == nil
}

// pause waits a moment. It returns an error if the call is to end.
func (q *changesCall) pause(over <-chan time.Time) error {
	next := time.NewTimer(changesPause)
	defer next.Stop()
	select {
	case <-next.C:
		return nil
	case <-over:
	case <-q.ended:
	case <-q.s.deps.Drain.begins():
	case <-q.gin.Request.Context().Done():
	}
	return context.Canceled
}

// changeLine returns a change as a line of JSON; one without a type has only the cursor.
func changeLine(c social.Change) []byte {
	line := api.Change{Cursor: c.Cursor, Type: string(c.Type)}
	if c.Type != "" {
		line.Data = changeData(c)
	}
	out, err := json.Marshal(line)
	if err != nil { // impossible: strings and numbers only
		panic(err)
	}
	return append(out, '\n')
}

// changeData names what a change is about as events of other systems do.
func changeData(c social.Change) *api.ChangeData {
	d := &api.ChangeData{ID: c.Object, At: c.At / int64(time.Second/time.Microsecond)}
	switch c.Type {
	case social.FollowMade, social.FollowEnded, social.LikeMade, social.LikeEnded:
		d.AgentID, d.AuthorID = c.Agent, c.Other
	case social.BlockMade, social.BlockEnded:
		d.AgentID, d.OtherID = c.Agent, c.Other
	case social.MemberJoined, social.MemberLeft:
		d.AgentID = c.Agent
	case social.InvitationMade:
		d.OwnerID, d.AgentID = c.Agent, c.Other
	case social.ReportMade:
		d.AgentID, d.OtherID = c.Agent, c.Other
	case social.PostHeld, social.PostRemoved, social.PostRestored:
		d.AuthorID = c.Other
	default: // of a post
		d.AuthorID, d.AgentID, d.ReplyTo = c.Agent, c.Other, c.Parent
	}
	return d
}
