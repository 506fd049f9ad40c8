package bench

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	api "github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
)

// upload is an NDJSON file, written before the measurement, in the parts that are uploaded
// separately: half of the items, then the rest in parts of about equal size.
type upload struct {
	file  *os.File
	items int
	parts []span
}

// span is a part of the file.
type span struct {
	from, bytes int64
	items       int
}

// bytes returns the size of the file.
func (u *upload) bytes() int64 {
	last := u.parts[len(u.parts)-1]
	return last.from + last.bytes
}

// writeItems creates the file.
func (b *bench) writeItems(n int, now time.Time) (u *upload, err error) {
	b.progress("  writing %d items", n)
	file, err := os.Create(filepath.Join(b.dir, "items-"+strconv.Itoa(n)+".ndjson"))
	if err != nil {
		return nil, err
	}
	u = &upload{file: file, items: n}
	sizes := []int{n / 2}
	for left, rounds := n-n/2, b.rounds(); rounds > 0; rounds-- {
		sizes = append(sizes, left/rounds)
		left -= left / rounds
	}
	out := bufio.NewWriterSize(file, 1<<20)
	part := span{}
	for it := range eachItem(n, now) {
		line, err := it.MarshalJSON()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		_, _ = out.Write(line) // Flush returns the error
		_ = out.WriteByte('\n')
		part.items++
		part.bytes += int64(len(line)) + 1
		if part.items == sizes[len(u.parts)] {
			u.parts = append(u.parts, part)
			part = span{from: u.bytes()}
		}
	}
	if err := out.Flush(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return u, nil
}

// ingested sums the measurements of uploads to one or more systems.
type ingested struct {
	alone, beside struct {
		items int
		took  time.Duration
	}
	totals []total       // refreshes: idle, and during uploads
	cpu    time.Duration // of the parts uploaded alone, including the client
	peak   float64       // resident size in bytes
}

// repeats returns how often the items are uploaded, each time to a new system, to get enough
// refreshes for a percentile.
func (b *bench) repeats(items int) int {
	if b.o.Short {
		return 1
	}
	return max(1, min(3, 300_000/items))
}

// ingest uploads items while readers refresh.
func (b *bench) ingest(ctx context.Context) (results []Result, err error) {
	for _, n := range b.o.Items {
		r, err := b.ingestItems(ctx, n)
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
	return results, nil
}

func (b *bench) ingestItems(ctx context.Context, n int) (r Result, err error) {
	now := time.Now()
	u, err := b.writeItems(n, now)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, u.file.Close(), os.Remove(u.file.Name())) }()
	debug.FreeOSMemory() // memory used to create the items is not the server's
	resetPeak()
	var sum ingested
	for range b.repeats(n) {
		if err := b.ingestOnce(ctx, u, now, &sum); err != nil {
			return r, err
		}
	}
	idle, during := sum.totals[0].measured(), sum.totals[1].measured()
	// The allocations and CPU time of refreshes and uploads cannot be separated.
	for _, c := range []*Case{&idle, &during} {
		c.Allocs, c.AllocBytes, c.CPU = 0, 0, map[string]float64{}
	}
	perSecond := func(items int, took time.Duration) float64 { return float64(items) / took.Seconds() }
	r = Result{
		What: fmt.Sprintf("over HTTP in this process, %d items as freshet ingest sends them; half of them alone, then in %d parts beside %d refreshes a second of %d readers with profiles, in turns with as many refreshes alone; %d times",
			n, b.rounds(), refreshRate, readers, b.repeats(n)),
		Cases: []Case{idle, during},
		Figures: []Value{
			{"items", float64(n), ""},
			{"NDJSON", float64(u.bytes()) / (1 << 20), "MiB"},
			{"ingest", perSecond(sum.alone.items+sum.beside.items, sum.alone.took+sum.beside.took), "items/s"},
			{"ingest, the first half, alone", perSecond(sum.alone.items, sum.alone.took), "items/s"},
			{"CPU of that, the client's included", float64(sum.cpu.Microseconds()) / float64(sum.alone.items), "µs an item"},
			{"ingest, the second half, beside the refreshes", perSecond(sum.beside.items, sum.beside.took), "items/s"},
			{"refresh p50, during the ingest to idle", during.Latency.P50 / idle.Latency.P50, "times"},
			{"refresh p99, during the ingest to idle", during.Latency.P99 / idle.Latency.P99, "times"},
		},
	}
	if sum.peak > 0 {
		r.Figures = append(r.Figures, Value{"resident, at the peak, the client included", sum.peak / (1 << 20), "MiB"})
	}
	return r, nil
}

// ingestOnce uploads all parts to a new system.
func (b *bench) ingestOnce(ctx context.Context, u *upload, now time.Time, sum *ingested) (err error) {
	dir := filepath.Join(b.dir, "ingest")
	cfg := b.embeddedConfig(dir)
	cfg.Auth.AdminToken = rand.Text()
	s, err := b.serve(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop(), os.RemoveAll(dir)) }()
	sender, err := api.New("http://"+s.addr, api.WithToken(cfg.Auth.AdminToken))
	if err != nil {
		return err
	}
	defer sender.Close()
	for i := range readers {
		if err := s.Engine.PutProfile(ctx, reader(i), profile(i)); err != nil {
			return err
		}
	}
	before, _ := ownCPU()
	took, err := timed(func() error { return b.send(ctx, sender, u, 0) })
	if err != nil {
		return err
	}
	after, _ := ownCPU()
	sum.cpu += after - before
	sum.alone.items += u.parts[0].items
	sum.alone.took += took
	b.progress("  the first half took %s", took.Round(time.Millisecond))
	if err := b.ingestBeside(ctx, s, sender, u, took/time.Duration(b.rounds()), sum); err != nil {
		return err
	}
	_, peak := memory(os.Getpid())
	sum.peak = max(sum.peak, peak)
	if err := b.verifyStored(ctx, s, u, now); err != nil {
		return err
	}
	return b.verify(ctx, s)
}

// ingestBeside uploads all parts but the first while readers refresh, in turns with refreshes of
// the same readers alone. An idle turn lasts as long as the upload before it took, because turns
// of equal length have equally many first refreshes, which are slower. guess is the length of the
// first idle turn.
func (b *bench) ingestBeside(ctx context.Context, s *system, sender *api.Client, u *upload, guess time.Duration, sum *ingested) error {
	f := &flow{addr: s.addr, rate: refreshRate, agents: readers}
	if err := f.warm(ctx); err != nil {
		return err
	}
	last := guess
	totals, err := b.compare(ctx, b.rounds(),
		side{name: "refresh, idle", settle: s.recorded, run: func(ctx context.Context, _ int) (turn, error) {
			return f.during(ctx, func(ctx context.Context) error { return sleep(ctx, last) })
		}},
		side{name: "refresh, during the ingest", settle: s.recorded, run: func(ctx context.Context, round int) (turn, error) {
			part := u.parts[1+round]
			t, err := f.during(ctx, func(ctx context.Context) error {
				took, err := timed(func() error { return b.send(ctx, sender, u, 1+round) })
				sum.beside.items += part.items
				sum.beside.took += took
				last = took
				return err
			})
			return t, err
		}},
	)
	if err != nil {
		return err
	}
	if sum.totals == nil {
		sum.totals = totals
		return nil
	}
	for i := range totals {
		sum.totals[i].turn.took += totals[i].turn.took
		sum.totals[i].turn.answers += totals[i].turn.answers
		sum.totals[i].turn.times.Merge(totals[i].turn.times)
		sum.totals[i].rates = append(sum.totals[i].rates, totals[i].rates...)
	}
	return nil
}

// send uploads a part like the ingest command.
func (b *bench) send(ctx context.Context, sender *api.Client, u *upload, i int) error {
	part := u.parts[i]
	report, err := sender.Ingest(ctx, io.NewSectionReader(u.file, part.from, part.bytes), func(r api.Rejection) {
		b.impossible("line %d of part %d, %s, was rejected: %s", r.Line, i, r.ID, r.Reason)
	})
	if err == nil && report.Accepted != part.items {
		b.impossible("of %d items of part %d %d were accepted", part.items, i, report.Accepted)
	}
	return err
}

// verifyStored checks that every item is in the catalog and in the index.
func (b *bench) verifyStored(ctx context.Context, s *system, u *upload, now time.Time) error {
	ids := make([]string, 0, 1000)
	_, ranking := s.Engine.Ranking("")
	q := feed.Query{Ranking: ranking, Origin: now}
	var lost, notIndexed int
	look := func() error {
		docs, err := s.Catalog.Docs(ctx, ids)
		for _, doc := range docs {
			if doc.Missing() {
				lost++
			}
		}
		factors, unknown := s.Engine.Factors(ctx, q, ids)
		for i := range factors {
			if !factors[i].Known {
				notIndexed++
			}
		}
		ids = ids[:0]
		return errors.Join(err, unknown)
	}
	for it := range eachItem(u.items, now) {
		ids = append(ids, it.ID)
		if len(ids) == cap(ids) {
			if err := look(); err != nil {
				return err
			}
		}
	}
	if err := look(); err != nil {
		return err
	}
	if lost > 0 {
		b.impossible("%d of %d items that were accepted are not in the catalog", lost, u.items)
	}
	if notIndexed > 0 {
		b.impossible("%d of %d items that were accepted are not in the index", notIndexed, u.items)
	}
	return nil
}

// resetPeak resets the peak memory of this process, if the system supports it.
func resetPeak() {
	// Other systems than Linux have neither this file nor a peak to read.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}
