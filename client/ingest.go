package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"
)

// Bounds of one upload request. A request is small enough to be repeated cheaply, and large enough
// that its overhead is negligible.
const (
	// maxLines is the number of rejections that the server lists for one request, so that each
	// rejection is explained.
	maxLines = 1_000
	maxBytes = 8 << 20 // before compression
	// maxLine is longer than any item the server accepts; longer lines are skipped without being held
	// in memory.
	maxLine = 1 << 20
)

const (
	// longestStay is how long a line waits for others to be sent with it: a live pipe may deliver few
	// lines.
	longestStay = time.Second
	// lastWait is how long a canceled upload may take to send the lines already read.
	lastWait = 10 * time.Second
)

// Summary counts an upload. Empty lines are not counted as items.
type Summary struct {
	Accepted int `json:"accepted"`
	Replaced int `json:"replaced,omitempty"` // of the accepted: items replaced by a later one in the same request
	Kept     int `json:"kept,omitempty"`     // of the accepted: items not newer than the stored ones, see [Client.IngestNewer]
	Rejected int `json:"rejected"`
	Requests int `json:"requests"`
}

// Ingest uploads items, one JSON object per line, optionally gzipped, in requests of at most 1,000
// lines and 8 MiB, one after the other: of two items with the same id the later line wins. Every
// rejected line is passed to reject, in no particular order within a request. The summary is valid
// even with an error; uploading again is harmless, because an item replaces itself.
//
// Lines from a slow pipe are sent within about two seconds. If ctx is canceled, the lines already
// read are sent and counted within 10 s. A pending read of r may end later.
func (c *Client) Ingest(ctx context.Context, r io.Reader, reject func(Rejection)) (Summary, error) {
	return c.upload(ctx, r, upload{path: "/v1/items", convert: onlyObjects, reject: reject})
}

// IngestNewer is like [Client.Ingest], but does not store items with an update_time that is not
// later than that of the stored item with the same id. They count as kept.
func (c *Client) IngestNewer(ctx context.Context, r io.Reader, reject func(Rejection)) (Summary, error) {
	return c.upload(ctx, r, upload{path: "/v1/items?if_newer=true", convert: onlyObjects, reject: reject})
}

// IngestCounts uploads likes and comments of stored items, one {"id","likes","comments"} per line,
// as [Client.Ingest] uploads items. Counts are absolute; omitted counts are not changed. Lines for
// posts and for items that are not stored are rejected.
func (c *Client) IngestCounts(ctx context.Context, r io.Reader, reject func(Rejection)) (Summary, error) {
	return c.upload(ctx, r, upload{path: "/v1/items/counts", convert: onlyObjects, reject: reject})
}

// onlyObjects returns lines unchanged. A line that begins with [ must not be sent: the server would
// parse the whole request as one JSON array.
func onlyObjects(line []byte) ([]byte, error) {
	if line[0] != '{' {
		return nil, errors.New("the line is not a JSON object")
	}
	return line, nil
}

// IngestGraph uploads events of other systems, as [Client.Ingest] uploads items. A line is an event
// as JSON, or a follow in two tab-separated columns, follower and author, dated at; the zero time
// means now. Uploading again is harmless: an event is applied once, and anything undone since its
// time stays undone.
func (c *Client) IngestGraph(ctx context.Context, r io.Reader, at time.Time, reject func(Rejection)) (Summary, error) {
	if at.IsZero() {
		at = time.Now()
	}
	f := &followLines{at: at.UTC()}
	return c.upload(ctx, r, upload{path: "/v1/graph/events", table: true, convert: f.event, reject: reject})
}

// columnNames matches a first line with the names of the columns, as spreadsheets and databases write them.
var columnNames = regexp.MustCompile(`(?i)^(follower|agent)([_ ]?id)?\t(author|followee|followed|following)([_ ]?id)?$`)

var errNoFollow = errors.New("the line is neither a JSON event nor two columns, follower and author, separated by a tab")

// followLines converts lines to events.
type followLines struct {
	at    time.Time
	buf   bytes.Buffer
	began bool // a line of columns was read
}

// event returns the line as an event, valid until the next call; nil for the header line.
func (f *followLines) event(line []byte) ([]byte, error) {
	if line[0] == '{' {
		return line, nil
	}
	follower, author, ok := bytes.Cut(line, []byte("\t"))
	first := !f.began
	f.began = true
	switch {
	case !ok && bytes.ContainsAny(line, ",;"):
		return nil, fmt.Errorf("%w; from a CSV file, write these two columns, with a tab and without quotes", errNoFollow)
	case !ok || bytes.ContainsRune(author, '\t'):
		return nil, errNoFollow
	case string(line) == "follower\tauthor", first && columnNames.Match(line):
		return nil, nil
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
