package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/social/timeline"
)

// errReply says that a key has something other than a list of this package.
var errReply = errors.New("not a valid list")

// Read implements [timeline.Reader] in one round trip.
func (l *Lists) Read(ctx context.Context, list string, below timeline.Position, n int) (timeline.Page, error) {
	n = max(n, 0)
	page, err := parsePage(l.run(ctx, readScript, list, l.readArgs(below, n)...), n)
	return page, contractError("read", err)
}

// ReadMany implements [timeline.Reader] in one pipeline for every [pipelined] lists.
func (l *Lists) ReadMany(ctx context.Context, names []string, below timeline.Position, n int) ([]timeline.Page, error) {
	n = max(n, 0)
	cmds, err := l.each(ctx, readScript, names, l.readArgs(below, n), false)
	if err != nil {
		return nil, contractError("read", err)
	}
	pages := make([]timeline.Page, len(names))
	for i, cmd := range cmds {
		if pages[i], err = parsePage(cmd, n); err != nil {
			return nil, contractError("read", err)
		}
	}
	return pages, nil
}

func (l *Lists) readArgs(below timeline.Position, n int) []any {
	at, id := floor(below)
	return []any{n, at, id, timeline.TTL.Milliseconds()}
}

// parsePage parses the reply of readScript for n entries.
func parsePage(cmd *redis.Cmd, n int) (page timeline.Page, err error) {
	reply, err := cmd.Slice()
	if err != nil || len(reply) == 0 {
		return page, err
	}
	text, _ := reply[0].(string)
	m, err := parseMark(text)
	page.State = m.state
	if err != nil || m.state != timeline.Ready {
		return page, err
	}
	if len(reply) != 3 {
		return page, fmt.Errorf("%w: %d values", errReply, len(reply))
	}
	text, _ = reply[1].(string)
	if page.Floor, err = parseFloor(text); err != nil {
		return page, err
	}
	members, _ := reply[2].([]any)
	page.Entries = make([]timeline.Position, 0, min(n, len(members)/2))
	for i := 0; i+1 < len(members); i += 2 {
		id, _ := members[i].(string)
		score, _ := members[i+1].(string)
		if score == "-inf" {
			break
		}
		if len(page.Entries) == n {
			page.More = true
			break
		}
		at, err := strconv.ParseFloat(score, 64)
		if err != nil {
			return page, fmt.Errorf("%w: score %.40q", errReply, score)
		}
		page.Entries = append(page.Entries, timeline.Position{At: int64(at), ID: id})
	}
	return page, nil
}

// Heads implements [timeline.Reader] in one pipeline for every [pipelined] lists. State, floor
// and version of a list are read atomically.
func (l *Lists) Heads(ctx context.Context, names []string) ([]timeline.Head, error) {
	heads := make([]timeline.Head, len(names))
	for from := 0; from < len(names); from += pipelined {
		part := names[from:min(from+pipelined, len(names))]
		pipe := l.client.Pipeline()
		marks, newest := make([]*redis.StringSliceCmd, len(part)), make([]*redis.ZSliceCmd, len(part))
		sizes := make([]*redis.IntCmd, len(part))
		for i, list := range part {
			marks[i] = pipe.ZRange(ctx, l.key(list), 0, 1)
			newest[i] = pipe.ZRevRangeWithScores(ctx, l.key(list), 0, 0)
			sizes[i] = pipe.ZCard(ctx, l.key(list))
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, contractError("heads", err)
		}
		for i := range part {
			var err error
			if heads[from+i], err = parseHead(marks[i].Val(), newest[i].Val(), sizes[i].Val()); err != nil {
				return nil, contractError("heads", fmt.Errorf("%s: %w", l.key(part[i]), err))
			}
		}
	}
	return heads, nil
}

// Versions implements [timeline.Reader] in one pipeline for every [pipelined] lists.
func (l *Lists) Versions(ctx context.Context, names []string) ([]string, error) {
	versions := make([]string, len(names))
	for from := 0; from < len(names); from += pipelined {
		part := names[from:min(from+pipelined, len(names))]
		pipe, marks := l.client.Pipeline(), make([]*redis.StringSliceCmd, len(part))
		for i, list := range part {
			marks[i] = pipe.ZRange(ctx, l.key(list), 0, 0)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, contractError("versions", err)
		}
		for i, cmd := range marks {
			if len(cmd.Val()) == 0 {
				continue // there is no such list
			}
			m, err := parseMark(cmd.Val()[0])
			if err != nil {
				return nil, contractError("versions", fmt.Errorf("%s: %w", l.key(part[i]), err))
			}
			versions[from+i] = m.version
		}
	}
	return versions, nil
}

func parseHead(marks []string, newest []redis.Z, members int64) (h timeline.Head, err error) {
	if len(marks) == 0 {
		return h, nil
	}
	m, err := parseMark(marks[0])
	if err != nil {
		return h, err
	}
	if len(marks) < 2 {
		return h, fmt.Errorf("%w: it has no floor", errReply)
	}
	if h.Floor, err = parseFloor(marks[1]); err != nil {
		return h, err
	}
	h.State, h.Version = m.state, m.version
	if id, ok := newestID(newest); ok && h.State == timeline.Ready {
		h.Newest = timeline.Position{At: int64(newest[0].Score), ID: id}
		h.Size = int(members) - 2 // the mark and the floor are members, too
	}
	return h, nil
}

// newestID returns the id of the newest entry. A list without entries has its floor in that place,
// or during a build an id that was removed.
func newestID(newest []redis.Z) (string, bool) {
	if len(newest) == 0 {
		return "", false
	}
	id, ok := newest[0].Member.(string)
	return id, ok && !strings.Contains(id, " ") && id != "$"
}

type mark struct {
	state   timeline.State
	version string
}

// parseMark parses a mark as written by the scripts.
func parseMark(text string) (mark, error) {
	words := strings.Split(text, " ")
	if len(words) == 4 {
		switch words[0] {
		case "!b", "!x":
			return mark{timeline.Building, words[2]}, nil
		case "!r":
			return mark{timeline.Ready, words[2]}, nil
		}
	}
	return mark{}, fmt.Errorf("%w: its mark is %.40q", errReply, text)
}

// parseFloor parses a floor as written by the scripts.
func parseFloor(text string) (timeline.Position, error) {
	if text == "$" {
		return timeline.Position{}, nil
	}
	digits, id, _ := strings.Cut(strings.TrimPrefix(text, "$"), " ")
	at, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || id == "" {
		return timeline.Position{}, fmt.Errorf("%w: its floor is %.40q", errReply, text)
	}
	return timeline.Position{At: at, ID: id}, nil
}
