// Command poller is the simplest possible client: it periodically sends a plain refresh and outputs
// the items. It needs no state and no silent calls, because a refresh never returns items that an
// earlier one has returned. Items that it does not read are replaced by the next refresh.
//
//	go run ./examples/poller -agent u_2 -every 5s -times 3
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/freshet/freshet/client"
)

// patience is the time limit of one poll.
const patience = 10 * time.Second

func poll(ctx context.Context, c *client.Client, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	page, err := c.Refresh(ctx, 10)
	if err != nil {
		return err
	}
	for _, it := range page.Items {
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
	c, err := client.New(*server, client.WithAgent(*agent))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	tick := time.NewTicker(*every)
	defer tick.Stop()
	for n := 1; ; n++ {
		// A failed poll is retried at the next tick; nothing is lost.
		if err := poll(ctx, c, os.Stdout); err != nil {
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
