package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
)

// exampleServer starts a server with three items and returns a function that stops it.
func exampleServer() (url string, stop func()) {
	h, end := embedded(asShipped)
	server := httptest.NewServer(h)
	admin, err := client.New(server.URL, client.WithAdminToken(adminToken))
	if err != nil {
		panic(err)
	}
	defer admin.Close()
	if _, err = admin.Ingest(context.Background(), strings.NewReader(posts(3)), func(client.Rejection) {}); err != nil {
		panic(err)
	}
	return server.URL, func() { server.Close(); end() }
}

// An app refreshes and scrolls. Calls are retried when the network or the server fails, without
// losing a page.
func Example() {
	server, stop := exampleServer()
	defer stop()

	ctx := context.Background()
	c, err := client.New(server, client.WithAgent("u_1"), client.WithRetries(3, 200*time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	page, err := c.Refresh(ctx, 2)
	for err == nil {
		for _, item := range page.Items {
			fmt.Println(item.ID, item.Title)
		}
		if !page.HasMore {
			break
		}
		page, err = c.LoadMore(ctx, 2)
	}
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// post/2 Post 2
	// post/1 Post 1
	// post/0 Post 0
}

// A backend makes calls for many readers over the same connections.
func ExampleClient_As() {
	server, stop := exampleServer()
	defer stop()

	backend, err := client.New(server)
	if err != nil {
		log.Fatal(err)
	}
	defer backend.Close()
	for _, reader := range []string{"ana", "ben"} {
		page, err := backend.As(reader).Refresh(context.Background(), 1)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(reader, page.Items[0].ID)
	}
	// Output:
	// ana post/2
	// ben post/2
}

func ExampleClient_Ingest() {
	server, stop := exampleServer()
	defer stop()

	admin, err := client.New(server, client.WithAdminToken(adminToken), client.WithRetries(10, time.Second))
	if err != nil {
		log.Fatal(err)
	}
	defer admin.Close()
	file := strings.NewReader(`{"id":"a","title":"A comet","update_time":1772791200,"tags":["space"]}
{"id":"b"}
`)
	sum, err := admin.Ingest(context.Background(), file, func(r client.Rejection) {
		fmt.Printf("line %d (%s): %s\n", r.Line, r.ID, r.Reason)
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum.Accepted, "stored")
	// Output:
	// line 2 (b): title is missing
	// 1 stored
}

// Refused calls return an Error with a code, which also matches a sentinel error.
func ExampleError() {
	server, stop := exampleServer()
	defer stop()

	c, err := client.New(server, client.WithAgent("u_1"))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, err = c.PutProfile(context.Background(), "u_2", feed.Profile{Langs: []string{"en"}})
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Status, refused.Code, errors.Is(err, client.ErrForbidden))
	}
	// Output: 403 40301 true
}
