package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/internal/freeport"
)

const (
	// readyWithin bounds a start, so that a server that cannot start causes an error.
	readyWithin = 5 * time.Minute
	starts      = 3
	startPages  = 3000 // pages requested before memory is read
)

// start measures the binary as a separate process: the time until it is ready, and its memory.
func (b *bench) start(ctx context.Context) ([]Result, error) {
	var results []Result
	for _, n := range b.o.Items {
		dir, err := b.filledDir(ctx, n)
		if err != nil {
			return results, err
		}
		var seconds []float64
		var resident, peak float64
		for range starts {
			took, rss, high, err := b.startOnce(ctx, dir)
			if err != nil {
				return results, err
			}
			seconds = append(seconds, took.Seconds())
			resident, peak = max(resident, rss), max(peak, high)
		}
		r := Result{
			What:    fmt.Sprintf("the binary, embedded, %d items in its directory; %d starts, the median; memory after %d pages", n, starts, startPages),
			Figures: []Value{{"items", float64(n), ""}, {"until /readyz answers", median(seconds), "s"}},
		}
		if resident > 0 {
			r.Figures = append(r.Figures, Value{"resident", resident / (1 << 20), "MiB"}, Value{"resident, at the peak", peak / (1 << 20), "MiB"})
		}
		results = append(results, r)
	}
	return results, nil
}

// startOnce starts a server, requests pages and stops it. Memory is 0 if the system does not
// report it.
func (b *bench) startOnce(ctx context.Context, dir string) (took time.Duration, resident, peak float64, err error) {
	addr, err := freeport.Addr(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	var log bytes.Buffer
	cmd := exec.CommandContext(ctx, b.o.Executable, "serve", "--data_dir", dir, "--server.addr", addr, "--log.level", "warn")
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.Env = environment()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, 0, err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		stopped := <-exited
		if stopped != nil && ctx.Err() == nil {
			err = errors.Join(err, fmt.Errorf("%s serve: %w: %s", b.o.Executable, stopped, log.String()))
		}
	}()
	if err := ready(ctx, addr, exited); err != nil {
		return 0, 0, 0, err
	}
	took = time.Since(began)
	if err := askPages(ctx, addr); err != nil {
		return 0, 0, 0, err
	}
	resident, peak = memory(cmd.Process.Pid)
	return took, resident, peak, nil
}

// environment returns this process's environment without server settings.
func environment() []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "FRESHET_") {
			env = append(env, pair)
		}
	}
	return env
}

// ready waits until the server is ready.
func ready(ctx context.Context, addr string, exited chan error) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{Transport: transport}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz", nil)
		if err != nil {
			return err
		}
		if res, err := client.Do(req); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server did not become ready: %w", ctx.Err())
		case err := <-exited:
			exited <- err
			return errors.New("the server exited before it was ready")
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func askPages(ctx context.Context, addr string) error {
	c, err := dial(ctx, addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.conn.Close() })()
	for i := range startPages {
		if _, err := c.post(reader(i%readers), []string{"refresh", "load_more"}[i/readers%2]); err != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
	return nil
}

// memory returns the resident size of a process, now and at its peak, in bytes.
func memory(pid int) (resident, peak float64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	field := func(line, name string) (float64, bool) {
		value, ok := strings.CutPrefix(line, name+":")
		if !ok {
			return 0, false
		}
		kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		return kb * 1024, err == nil
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := field(line, "VmRSS"); ok {
			resident = v
		}
		if v, ok := field(line, "VmHWM"); ok {
			peak = v
		}
	}
	return resident, peak
}
