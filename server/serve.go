package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/handler"
)

const (
	headerTimeout = 5 * time.Second
	// idleTimeout is longer than gateways keep idle connections to servers, Envoy's hour among them: a call that
	// is sent while the server hangs up fails. The kernel probes connections, and drops those of peers that are gone.
	idleTimeout = 70 * time.Minute
	// answerSlack is the time beyond the request timeout for a slow client to send its body or
	// read its answer.
	answerSlack = 25 * time.Second
	maxHeader   = 32 << 10 // of a client that is not authenticated yet; the longest token is 8 KiB
)

// ErrAtOnce is the cause of a context that ends [App.Serve] without server.drain: no load
// balancer waits for a server in a terminal.
var ErrAtOnce = fmt.Errorf("interrupted: %w", context.Canceled)

// Run opens the system and serves it as [App.Serve] does. While it opens, /livez, /readyz and
// /metrics are answered, and other calls wait ([handler.Starting]). The listener is closed.
func Run(ctx context.Context, l net.Listener, cfg configs.Config, options ...Option) error {
	starting := handler.NewStarting(cfg.Server.RequestTimeout)
	b := newBuilder(cfg, append(options, func(s *settings) { s.waitFor = starting.WaitFor }))
	server := b.httpServer(ctx, starting)
	failed := b.serveOn(server, l)
	a, err := b.open(ctx)
	if err != nil {
		return b.giveUp(ctx, server, err)
	}
	starting.Open(a.Handler)
	return a.serve(ctx, server, l, failed)
}

// giveUp closes what was opened before the start failed. The error is nil if it was stopped, and that cut
// nothing off.
func (b *builder) giveUp(ctx context.Context, server *http.Server, failed error) error {
	patience := b.live.Now().Server.ShutdownTimeout
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if ctx.Err() == nil || !errors.Is(failed, ctx.Err()) {
		return errors.Join(failed, b.close(ending), server.Close())
	}
	b.log.InfoContext(ctx, "stopping before the server was ready")
	return errors.Join(finish(ending, server, patience*2/3), b.close(ending))
}

// Serve answers on the listener until ctx ends and for server.drain after that, finishes open
// requests, and closes the system. The last two together take server.shutdown_timeout at most.
func (a *App) Serve(ctx context.Context, l net.Listener) error {
	server := a.httpServer(ctx, a.Handler)
	return a.serve(ctx, server, l, a.serveOn(server, l))
}

// serveOn starts to serve. The channel gets the error of the listener.
func (b *builder) serveOn(server *http.Server, l net.Listener) <-chan error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(newHearing(l, server, b.log)) }()
	return failed
}

func (a *App) serve(ctx context.Context, server *http.Server, l net.Listener, failed <-chan error) error {
	if a.network != nil {
		server.RegisterOnShutdown(a.network.watcher.End) // otherwise it would wait for the streams
	}
	items, impressions, posts := a.cfg.Stores()
	a.log.InfoContext(ctx, "serving", "addr", l.Addr().String(), "items", items, "impressions", impressions, "posts", posts)

	var serveErr error
	select {
	case <-ctx.Done():
		serveErr = a.announce(ctx, failed)
		a.log.InfoContext(ctx, "stopping: finishing requests, then recording what was delivered")
	case serveErr = <-failed:
	case serveErr = <-a.fatal:
		a.log.ErrorContext(ctx, "stopping: the server cannot go on as it was started", "error", serveErr)
	}
	patience := a.live.Now().Server.ShutdownTimeout
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	shutdownErr := finish(ending, server, patience*2/3)
	if errors.Is(serveErr, http.ErrServerClosed) {
		serveErr = nil
	}
	return errors.Join(serveErr, shutdownErr, a.Close(ending))
}

// announce reports for server.drain that the server is about to stop. It returns early with the
// error of a listener that fails.
func (a *App) announce(ctx context.Context, failed <-chan error) error {
	over := a.live.Now().Server.Drain
	if over == 0 || errors.Is(context.Cause(ctx), ErrAtOnce) {
		return nil
	}
	a.log.InfoContext(ctx, "stopping soon: not ready any more, but still answering requests", "drain", over.String())
	a.stopping.Begin(over)
	select {
	case <-time.After(over):
		return nil
	case err := <-failed:
		return err
	}
}

// finish waits for open requests, and aborts those that take longer than most: recording and
// closing need a share of the time too.
func finish(ctx context.Context, server *http.Server, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return fmt.Errorf("some requests were cut off: %w", errors.Join(err, server.Close()))
	}
	return nil
}

// httpServer returns the server, with its limits on slow clients and large headers.
func (b *builder) httpServer(ctx context.Context, all http.Handler) *http.Server {
	slow := b.cfg.Server.RequestTimeout + answerSlack
	return &http.Server{
		Handler:           all,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       slow,
		// Both start with the request. A call whose body arrived at the last moment still needs
		// its time, and one whose body did not arrive must receive an error.
		WriteTimeout:   2 * slow,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeader,
		BaseContext:    func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ErrorLog:       slog.NewLogLogger(b.log.Handler(), slog.LevelWarn),
	}
}
