package bench

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
)

// bare serves only one gin handler, until stop is called.
func bare(ctx context.Context, answer gin.HandlerFunc) (addr string, stop func() error, err error) {
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.POST("/v1/feed", answer)
	g.GET("/v1/timeline", answer)
	var listener net.ListenConfig
	l, err := listener.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: g, ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l)
	}()
	return l.Addr().String(), func() error {
		err := server.Close()
		<-ended
		return err
	}, nil
}

// write sends JSON with its length, which avoids chunked encoding for answers larger than
// net/http's buffer.
func write(c *gin.Context, json []byte) {
	c.Header("Content-Length", strconv.Itoa(len(json)))
	c.Data(http.StatusOK, "application/json; charset=utf-8", json)
}

// constant always sends the same JSON from memory.
func constant(json []byte) gin.HandlerFunc {
	return func(c *gin.Context) { write(c, json) }
}

// popAndRead is the minimum that a feed does with Redis: LPOP, MGET, answer. On a cluster the
// items are on several servers, so it uses pipelined GETs.
func popAndRead(client redis.UniversalClient, list, item func(string) string, cluster bool) gin.HandlerFunc {
	read := client.MGet
	if cluster {
		read = func(ctx context.Context, keys ...string) *redis.SliceCmd { return getAll(ctx, client, keys) }
	}
	return func(c *gin.Context) {
		ctx := c.Request.Context()
		ids, err := client.LPopCount(ctx, list(c.GetHeader("X-Agent-ID")), page).Result()
		if err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		for i, id := range ids {
			ids[i] = item(id)
		}
		values, err := read(ctx, ids...).Result()
		if err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i], _ = v.(string)
		}
		writePage(c, texts)
	}
}

// writePage sends a page of JSON objects.
func writePage(c *gin.Context, cards []string) {
	answer := append(make([]byte, 0, 16<<10), `{"code":0,"msg":"success","data":{"items":[`...)
	for i, text := range cards {
		if i > 0 {
			answer = append(answer, ',')
		}
		answer = append(answer, text...)
	}
	write(c, append(answer, `],"has_more":true}}`...))
}

// getAll replaces MGET for keys on several servers.
func getAll(ctx context.Context, client redis.UniversalClient, keys []string) *redis.SliceCmd {
	all := redis.NewSliceCmd(ctx)
	gets, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, key := range keys {
			p.Get(ctx, key)
		}
		return nil
	})
	values := make([]any, len(gets))
	for i, get := range gets {
		values[i] = get.(*redis.StringCmd).Val()
	}
	all.SetVal(values)
	if err != nil {
		all.SetErr(err)
	}
	return all
}
