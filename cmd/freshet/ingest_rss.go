package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/freshet/freshet/catalog/rss"
	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/version"
)

const (
	// shortestPause between two reads of a feed: others' servers are asked.
	shortestPause = time.Minute
	feedTimeout   = 30 * time.Second
)

// feedAgent is how servers of feeds know this program.
func feedAgent() string { return "freshet/" + version.String() }

// ingestFeeds uploads the entries of web feeds, once or until the command is interrupted.
func (f *ingestFlags) ingestFeeds(sources []string) error {
	switch {
	case !f.rss:
		return f.usage(errors.New("--every requires --rss"))
	case f.graph || f.counts || f.ifNewer || f.all || f.allowRejected:
		return f.usage(errors.New("--rss goes only with --every and --json"))
	case f.cmd.Flags().Changed("every") && f.every < shortestPause:
		return f.usage(fmt.Errorf("--every must be a minute or more, not %s", f.every))
	}
	server, err := f.connect(client.WithRetries(ingestTries, ingestPause))
	if err != nil {
		return err
	}
	defer server.Close()
	p, err := rss.New(sources, feedStore{server}, &http.Client{Timeout: feedTimeout}, feedAgent(), time.Now)
	if err != nil {
		return f.usage(err)
	}
	if f.every > 0 {
		var mu sync.Mutex
		p.Run(f.cmd.Context(), f.every, func(o rss.Outcome) {
			mu.Lock()
			defer mu.Unlock()
			if o.Err != nil || !o.Same {
				_ = f.writeOutcome(o) // a log: the next line may be written again
			}
		})
		return nil
	}
	outcomes, err := p.Once(f.cmd.Context())
	if err != nil {
		return err
	}
	failed := 0
	for _, o := range outcomes {
		if err := f.writeOutcome(o); err != nil {
			return err
		}
		if o.Err != nil {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d feeds could not be read or stored", failed, len(outcomes))
	}
	return nil
}

// writeOutcome writes what came of one read of a feed, in one line.
func (f *ingestFlags) writeOutcome(o rss.Outcome) error {
	w := f.cmd.OutOrStdout()
	if *f.json {
		return json.NewEncoder(w).Encode(o)
	}
	if o.Err != nil {
		next := ""
		if o.Next > 0 {
			next = ", next try in " + o.Next.String()
		}
		_, err := fmt.Fprintf(w, "%s: %v%s\n", o.Source, o.Err, next)
		return err
	}
	rejected := ""
	if o.Rejected > 0 {
		rejected = fmt.Sprintf(", %d rejected: %s", o.Rejected, o.Reason)
	}
	_, err := fmt.Fprintf(w, "%s: %d stored%s\n", o.Source, o.Stored, rejected)
	return err
}

// feedStore uploads items to a server.
type feedStore struct{ server *client.Client }

func (s feedStore) Put(ctx context.Context, items []feed.Item, newer bool) (rss.Written, error) {
	lines, err := rss.Lines(items)
	if err != nil {
		return rss.Written{}, err
	}
	send := s.server.Ingest
	if newer {
		send = s.server.IngestNewer
	}
	var w rss.Written
	summary, err := send(ctx, bytes.NewReader(lines), func(r client.Rejection) { w.Reason = cmp.Or(w.Reason, r.Reason) })
	w.Stored, w.Rejected = summary.Accepted-summary.Kept, summary.Rejected
	return w, err
}

func (s feedStore) Dates(ctx context.Context, ids []string) (map[string]int64, error) {
	dates := map[string]int64{}
	for _, id := range ids {
		it, err := s.server.Item(ctx, id)
		if err != nil && !errors.Is(err, client.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			dates[id] = it.UpdateTime
		}
	}
	return dates, nil
}
