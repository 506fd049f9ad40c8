// Command app shows what an app does with Freshet: it refreshes when the
// reader pulls down, loads more as the reader scrolls, and asks in the
// background whether to show a "new" badge. It keeps no cursor.
//
//	go run ./examples/app -server http://127.0.0.1:8080 -agent u_1
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"time"
)

// page is what the feed answers; an app would add the item fields it shows.
type page struct {
	Items []struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	} `json:"items"`
	HasMore  bool `json:"has_more"`
	NewCount int  `json:"new_count"`
}

type app struct {
	server, agent string
	http          *http.Client
}

// These two may pass, so the call is tried again a little later.
var (
	errBusy     = errors.New("the server asks to try again later")
	errNoAnswer = errors.New("no answer came")
)

// ask calls the feed. A call that changes something carries a request id, so
// that trying it again after a lost answer gets the same page, not the next.
func (a app) ask(ctx context.Context, call map[string]any) (page, error) {
	if call["silent"] == nil {
		call["request_id"] = rand.Text()
	}
	body, err := json.Marshal(call)
	if err != nil {
		return page{}, err
	}
	for try := 1; ; try++ {
		p, err := a.once(ctx, body)
		passing := errors.Is(err, errBusy) || errors.Is(err, errNoAnswer)
		if !passing || try == 3 {
			return p, err
		}
		select {
		case <-time.After(time.Duration(try) * 500 * time.Millisecond):
		case <-ctx.Done():
			return page{}, ctx.Err()
		}
	}
}

func (a app) once(ctx context.Context, body []byte) (page, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.server+"/v1/feed", bytes.NewReader(body))
	if err != nil {
		return page{}, err
	}
	// In production a gateway sets this header, or a JWT takes its place.
	req.Header.Set("X-Agent-ID", a.agent)
	res, err := a.http.Do(req)
	if err != nil {
		return page{}, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(res.Body, 32<<20))
	if err != nil {
		return page{}, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	var answer struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
		Data page   `json:"data"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return page{}, fmt.Errorf("HTTP %d is not an answer of Freshet: %w", res.StatusCode, err)
	}
	switch {
	case answer.Code == 0:
		return answer.Data, nil
	case res.StatusCode == http.StatusServiceUnavailable, res.StatusCode == http.StatusTooManyRequests:
		return page{}, fmt.Errorf("%w: %s", errBusy, answer.Msg)
	default:
		return page{}, fmt.Errorf("code %d: %s", answer.Code, answer.Msg)
	}
}

func (a app) run(ctx context.Context, out io.Writer, pages int) error {
	p, err := a.ask(ctx, map[string]any{"action": "refresh", "limit": 5})
	if err != nil {
		return err
	}
	show(out, "pulled to refresh", p)
	for range pages {
		if !p.HasMore {
			break
		}
		if p, err = a.ask(ctx, map[string]any{"action": "load_more", "limit": 5}); err != nil {
			return err
		}
		show(out, "scrolled on", p)
	}
	badge, err := a.ask(ctx, map[string]any{"action": "refresh", "silent": true, "limit": 1})
	if err != nil {
		return err
	}
	if len(badge.Items) > 0 {
		_, err = fmt.Fprintf(out, "badge: %d new\n", badge.NewCount)
	} else {
		_, err = fmt.Fprintln(out, "no badge: nothing new since the refresh")
	}
	return err
}

func show(out io.Writer, what string, p page) {
	_, _ = fmt.Fprintf(out, "%s, %d items:\n", what, len(p.Items))
	for _, it := range p.Items {
		_, _ = fmt.Fprintf(out, "  %-12s %s\n", it.ID, it.Title)
	}
}

func main() {
	a := app{http: &http.Client{Timeout: 10 * time.Second}}
	flag.StringVar(&a.server, "server", "http://127.0.0.1:8080", "where Freshet serves")
	flag.StringVar(&a.agent, "agent", "u_1", "who reads")
	pages := flag.Int("pages", 2, "how far to scroll")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := a.run(ctx, os.Stdout, *pages); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
