package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/social"
)

const (
	mostStreams = 10_000
	otherFiles  = 500  // files open in addition to both ends of the streams
	leastFiles  = 1024 // assumed limit of open files if it is unknown
	// deliverWithin limits the time until all streams have the event.
	deliverWithin = 30 * time.Second
)

func (b *bench) streamsEmbedded(ctx context.Context) ([]Result, error) {
	cfg := b.embeddedConfig(filepath.Join(b.dir, "streams"))
	cfg.Social.Off = false
	return b.streams(ctx, cfg)
}

func (b *bench) streamsServices(ctx context.Context) ([]Result, error) {
	return b.streams(ctx, b.socialConfig(filepath.Join(b.dir, "streams")))
}

// streams opens many streams of agents that follow one author, and measures the time from a post
// until each stream has the event: for an author whose posts are pushed into lists, and for one
// whose posts are pulled.
func (b *bench) streams(ctx context.Context, cfg configs.Config) (results []Result, err error) {
	n, rounds := min(mostStreams, (openFiles()-otherFiles)/2), b.rounds()
	if b.o.Short {
		n = 50
	}
	cfg.Timeline.CelebrityAt = 1_000_000 // delivery is set explicitly
	s, err := b.serve(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for _, author := range []string{"pushed", "pulled"} {
		r, err := b.measureStreams(ctx, s, author, n, rounds)
		if err != nil {
			return results, fmt.Errorf("%s: %w", author, err)
		}
		results = append(results, r)
	}
	return results, nil
}

func listening(author string, i int) string { return fmt.Sprintf("listens_to_%s_%d", author, i) }

// measureStreams measures the streams of one author's followers.
func (b *bench) measureStreams(ctx context.Context, s *system, author string, n, rounds int) (Result, error) {
	if err := b.audience(ctx, s, author, n); err != nil {
		return Result{}, err
	}
	before, _ := memory(os.Getpid())
	l, err := b.listen(ctx, s, author, n)
	if err != nil {
		return Result{}, err
	}
	defer l.close()
	open, _ := memory(os.Getpid())
	told := total{name: "from the post until a stream has it", turn: turn{times: newTimes()}}
	var spread, last, spent []float64
	for i := range rounds {
		// The watcher checks at fixed times, so posts are spread over its interval.
		if err := sleep(ctx, time.Duration(i+1)*timeline.PollEvery/time.Duration(rounds)); err != nil {
			return Result{}, err
		}
		start := time.Now()
		busy, _ := ownCPU()
		if _, _, err := s.Social.CreatePost(ctx, social.Post{Author: author, Caption: "News", Audience: social.Audience{Public: true}}, social.Creation{}); err != nil {
			return Result{}, err
		}
		if err := b.idle(ctx, s); err != nil {
			return Result{}, err
		}
		fanned := time.Now()
		latest, err := l.received(ctx, start, told.turn)
		if err != nil {
			return Result{}, err
		}
		after, _ := ownCPU()
		spent = append(spent, (after - busy).Seconds())
		spread, last = append(spread, fanned.Sub(start).Seconds()), append(last, max(0, latest.Sub(fanned).Seconds()))
		told.rates = append(told.rates, float64(n)/latest.Sub(start).Seconds())
	}
	return Result{
		What:  fmt.Sprintf("%d streams over loopback HTTP, all of followers of one author whose posts are %s; %d posts", n, author, rounds),
		Cases: []Case{told.measured()},
		Figures: []Value{
			{"streams", float64(n), ""},
			{"fan-out, median", median(spread), "s"},
			{"last stream, after the fan-out, median", median(last), "s"},
			{"the same, worst", slices.Max(last), "s"},
			{"CPU of a post, both ends, median", median(spent), "s"},
			{"memory of an idle stream, both ends", (open - before) / float64(n), "bytes"},
		},
	}, nil
}

// audience makes n agents follow an author, sets the delivery and waits for the jobs.
func (b *bench) audience(ctx context.Context, s *system, author string, n int) error {
	edges := make([]social.Edge, n)
	for i := range edges {
		edges[i] = social.Edge{Agent: listening(author, i), Author: author}
	}
	for len(edges) > 0 {
		some := edges[:min(len(edges), social.MaxEdges)]
		if _, _, err := s.Social.FollowAll(ctx, some, time.Now()); err != nil {
			return err
		}
		edges = edges[len(some):]
	}
	if author == "pulled" {
		if _, err := s.Social.SetDelivery(ctx, author, social.Push, social.Pull); err != nil {
			return err
		}
	}
	return b.idle(ctx, s)
}

// listeners are open streams.
type listeners struct {
	conns []net.Conn
	heard chan time.Time // one value per stream and event
	wg    sync.WaitGroup
}

// listen opens the streams and returns once they are watched.
func (b *bench) listen(ctx context.Context, s *system, author string, n int) (*listeners, error) {
	l := &listeners{conns: make([]net.Conn, n), heard: make(chan time.Time, n)}
	errs := make([]error, clients)
	var opening sync.WaitGroup
	for c := range clients {
		opening.Go(func() {
			for i := c; i < n && errs[c] == nil; i += clients {
				errs[c] = l.open(ctx, s.addr, listening(author, i), i, func(string) { l.heard <- time.Now() })
			}
		})
	}
	opening.Wait()
	if err := errors.Join(errs...); err != nil {
		l.close()
		return nil, err
	}
	return l, sleep(ctx, 2*timeline.PollEvery) // until the watcher knows whom they follow
}

// open opens one stream and reads it until it ends. It calls heard with the id of each event.
func (l *listeners) open(ctx context.Context, addr, agent string, i int, heard func(id string)) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	l.conns[i] = conn
	if _, err := fmt.Fprintf(conn, "GET /v1/stream HTTP/1.1\r\nHost: bench\r\nX-Agent-ID: %s\r\n\r\n", agent); err != nil {
		return err
	}
	in := bufio.NewReaderSize(conn, 512)
	status, err := in.ReadSlice('\n')
	if err != nil || !bytes.HasPrefix(status, []byte("HTTP/1.1 200")) {
		return fmt.Errorf("a stream is answered %q: %w", status, err)
	}
	for line := status; !bytes.HasPrefix(line, []byte("id: ")); { // the first block
		if line, err = in.ReadSlice('\n'); err != nil {
			return err
		}
	}
	l.wg.Go(func() {
		var id string
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			if of, ok := bytes.CutPrefix(line, []byte("id: ")); ok {
				id = string(of)
			} else if bytes.HasPrefix(line, []byte("event: new")) {
				heard(id)
			}
		}
	})
	return nil
}

// received waits until every stream has the event, and returns when the last one got it.
func (l *listeners) received(ctx context.Context, since time.Time, t turn) (latest time.Time, err error) {
	late := time.NewTimer(deliverWithin)
	defer late.Stop()
	for i := range l.conns {
		select {
		case at := <-l.heard:
			if at.After(latest) {
				latest = at
			}
			if err := t.times.RecordValue(int64(at.Sub(since))); err != nil {
				return latest, err
			}
		case <-late.C:
			return latest, fmt.Errorf("%d of %d streams did not receive the event within %v", len(l.conns)-i, len(l.conns), deliverWithin)
		case <-ctx.Done():
			return latest, ctx.Err()
		}
	}
	return latest, nil
}

func (l *listeners) close() {
	for _, c := range l.conns {
		if c != nil {
			_ = c.Close()
		}
	}
	l.wg.Wait()
}
