// Command poller is the simplest client there is: every so often it sends a
// plain refresh and hands the items on. It needs no state and no silent calls,
// because a refresh never answers what an earlier one has answered. What it
// does not read is simply replaced by the next refresh.
//
//	go run ./examples/poller -agent u_2 -every 5s -times 3
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"
)

func poll(ctx context.Context, client *http.Client, server, agent string, out io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server+"/v1/feed",
		strings.NewReader(`{"action":"refresh","limit":10}`))
	if err != nil {
		return err
	}
	req.Header.Set("X-Agent-ID", agent)
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	var answer struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
		Data struct {
			Items []struct {
				ID    string `json:"id"`
				Title string `json:"title"`
			} `json:"items"`
		} `json:"data"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return fmt.Errorf("HTTP %d: %w", res.StatusCode, err)
	}
	if answer.Code != 0 {
		return fmt.Errorf("code %d: %s", answer.Code, answer.Msg)
	}
	for _, it := range answer.Data.Items {
		if _, err := fmt.Fprintf(out, "%s\t%s\n", it.ID, it.Title); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	server := flag.String("server", "http://127.0.0.1:8080", "where Freshet serves")
	agent := flag.String("agent", "u_2", "who polls")
	every := flag.Duration("every", 10*time.Second, "pause between refreshes")
	times := flag.Int("times", 0, "how often; 0: until interrupted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client := &http.Client{Timeout: 10 * time.Second}
	tick := time.NewTicker(*every)
	defer tick.Stop()
	for n := 1; ; n++ {
		// A failed poll is tried again at the next tick; nothing is lost by it.
		if err := poll(ctx, client, *server, *agent, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		if n == *times {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
