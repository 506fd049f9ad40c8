// Command app shows how an app uses Freshet: it refreshes when the reader pulls down, loads more as
// the reader scrolls, and checks in the background whether to show a "new" badge. It stores no
// cursor.
//
//	go run ./examples/app -server http://127.0.0.1:8080 -agent u_1
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

func run(ctx context.Context, c *client.Client, out io.Writer, pages int) error {
	p, err := c.Refresh(ctx, 5)
	if err != nil {
		return err
	}
	show(out, "pulled to refresh", p)
	for range pages {
		if !p.HasMore {
			break
		}
		if p, err = c.LoadMore(ctx, 5); err != nil {
			return err
		}
		show(out, "scrolled on", p)
	}
	badge, err := c.Silent(ctx, 1)
	if err != nil {
		return err
	}
	if len(badge.Items) > 0 {
		_, err = fmt.Fprintf(out, "badge: %d new\n", *badge.NewCount)
	} else {
		_, err = fmt.Fprintln(out, "no badge: nothing new since the refresh")
	}
	return err
}

func show(out io.Writer, what string, p client.Page) {
	_, _ = fmt.Fprintf(out, "%s, %d items:\n", what, len(p.Items))
	for _, it := range p.Items {
		_, _ = fmt.Fprintf(out, "  %-12s %s\n", it.ID, it.Title)
	}
}

func main() {
	server := flag.String("server", "http://127.0.0.1:8080", "where Freshet serves")
	agent := flag.String("agent", "u_1", "who reads")
	pages := flag.Int("pages", 2, "how far to scroll")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// In production a gateway identifies the agent, or client.WithToken does. With retries each call
	// has a request id, so that a retry after a lost response gets the same page, not the next.
	c, err := client.New(*server, client.WithAgent(*agent), client.WithRetries(3, 500*time.Millisecond))
	if err == nil {
		err = run(ctx, c, os.Stdout, *pages)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
