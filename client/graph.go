package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// IngestGraph uploads what other systems know of who follows whom and of posts,
// gzipped or not, in requests as those of [Client.Ingest]. A line is an event as
// JSON, or a follow in two columns, follower and author, with a tab between them.
// Follows in columns are as of at; the zero time is now.
//
// Uploading again is harmless, because an event changes nothing the second time,
// and what has been undone since its time stays undone.
func (c *Client) IngestGraph(ctx context.Context, r io.Reader, at time.Time, reject func(Rejection)) (Summary, error) {
	if at.IsZero() {
		at = time.Now()
	}
	f := &followLines{at: at.UTC()}
	u := &upload{client: c, path: "/v1/graph/events", convert: f.event, reject: reject}
	return u.run(ctx, r)
}

// followLines makes events of lines.
type followLines struct {
	at  time.Time
	buf bytes.Buffer
}

// event returns the line as an event, good until the next call; nil is none.
func (f *followLines) event(line []byte) ([]byte, error) {
	if line[0] == '{' {
		return line, nil
	}
	if string(line) == "follower\tauthor" {
		return nil, nil
	}
	follower, author, ok := bytes.Cut(line, []byte("\t"))
	if !ok || bytes.ContainsRune(author, '\t') {
		return nil, errors.New("the line is neither an event as JSON nor two columns, follower and author, with a tab between them")
	}
	f.buf.Reset()
	err := json.NewEncoder(&f.buf).Encode(followEvent{"follow.created", followData{string(follower), string(author), f.at}})
	return bytes.TrimSuffix(f.buf.Bytes(), []byte("\n")), err
}

type followEvent struct {
	Type string     `json:"type"`
	Data followData `json:"data"`
}

type followData struct {
	Agent  string    `json:"agent_id"`
	Author string    `json:"author_id"`
	At     time.Time `json:"at"`
}
