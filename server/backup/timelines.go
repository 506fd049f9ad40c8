package backup

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/freshet/freshet/internal/rowsum"
	"github.com/freshet/freshet/social"
)

const (
	// comparedTimelines is the number of random agents whose timelines a backup notes, to compare them
	// with those of what was restored.
	comparedTimelines = 1000
	// comparedPosts is the number of posts of each.
	comparedPosts = 100
)

// timelineReader is the part of the social store that timelines are read from.
type timelineReader interface {
	DrawFollowers(ctx context.Context, n int) ([]string, error)
	Pull(ctx context.Context, q social.PullQuery) ([]social.Entry, error)
}

// timeline is a short form of an agent's timeline, to compare it.
type timeline struct {
	Agent string `json:"agent"`
	Posts int64  `json:"posts"`
	Sum   string `json:"sum"`
}

// readTimeline reads the newest posts of an agent's timeline.
func readTimeline(ctx context.Context, from timelineReader, agent string) (timeline, error) {
	entries, err := from.Pull(ctx, social.PullQuery{Reader: agent, N: comparedPosts, Whole: true})
	var sum rowsum.Sum
	for i, e := range entries {
		sum.Add(rowsum.Append(nil, int64(i), e.ID, e.Author, e.At))
	}
	return timeline{agent, sum.Rows, sum.String()}, err
}

// timelines notes the timelines of random agents. They are read as servers read them, from the state of the
// database that is in the backup.
func (r *run) timelines(ctx context.Context, from timelineReader, p *Part) error {
	agents, err := from.DrawFollowers(ctx, comparedTimelines)
	if err != nil {
		return err
	}
	list := make([]timeline, len(agents))
	for i, agent := range agents {
		if list[i], err = readTimeline(ctx, from, agent); err != nil {
			return err
		}
		r.opts.progress("timelines", int64(i+1), int64(len(agents)))
	}
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	out, err := r.files.begin(ctx, r.folder, timelinesName)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	f, err := out.finish(err)
	p.Files = append(p.Files, f)
	return err
}

// compareTimelines compares the noted timelines with those of a store.
func (c *comparison) timelines(ctx context.Context, p *Part, from timelineReader) error {
	for _, f := range p.Files {
		if f.Name != timelinesName {
			continue
		}
		list, err := readList(ctx, c.files, c.folder, f)
		if err != nil {
			return err
		}
		for i, want := range list {
			got, err := readTimeline(ctx, from, want.Agent)
			if err != nil {
				return err
			}
			c.opts.progress("timelines", int64(i+1), int64(len(list)))
			switch {
			case got.Posts != want.Posts:
				c.differ("the timeline of %s has %d posts, and %d in the backup", want.Agent, got.Posts, want.Posts)
			case got.Sum != want.Sum:
				c.differ("the timeline of %s has other posts than in the backup", want.Agent)
			}
		}
		c.Timelines = len(list)
	}
	return nil
}

func readList(ctx context.Context, from *files, folder string, f File) (list []timeline, err error) {
	in, err := from.checked(ctx, folder, f)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return list, nil
}
