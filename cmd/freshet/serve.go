package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/logqueue"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/gctuner"
	"github.com/freshet/freshet/server/livesettings"
)

func newServeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the feed over HTTP",
		Long: "Serve the feed over HTTP until SIGINT or SIGTERM, then finish requests and record what was delivered.\n" +
			"Without a configuration everything runs in this process, on 127.0.0.1:8080.",
	}
	demo := cmd.Flags().Bool("demo", false, "put 5,000 made-up items, 8 readers (u_1 to u_8) and a network of 300 authors into the stores, and something new every few seconds; 6 more readers (r_rust, r_food, …) are simulated for a minute; embedded, they have a directory of their own")
	feeds := cmd.Flags().StringArray("rss", nil, "with --demo: the entries of this web feed, a URL or a file, in place of made-up items; may be repeated")
	return withLoad(cmd, func(cmd *cobra.Command, load loader, cfg configs.Config) error {
		if len(*feeds) > 0 && !*demo {
			return &usageError{cmd.CommandPath(), errors.New("--rss requires --demo; \"freshet ingest --rss\" uploads the entries of feeds to a server")}
		}
		return serve(cmd, cfg, load, *demo, server.WithDemoFeeds(*feeds))
	})
}

// serve opens the system and serves it. load is called at each reload of the configuration.
func serve(cmd *cobra.Command, cfg configs.Config, load loader, demo bool, options ...server.Option) error {
	var level slog.LevelVar
	ctx, log := cmd.Context(), serverLog(cmd, cfg.Log.Format, &level)
	slog.SetDefault(log)
	live := livesettings.New(cfg, load, log)
	live.Follow(func(cfg configs.Config) { level.Set(levelOf(cfg.Log)) })
	defer reloadAtHangups(ctx, log, live)()
	gctuner.LimitMemory(ctx, log)
	tuning, stop := context.WithCancel(ctx)
	defer stop()
	go gctuner.Run(tuning)
	// Listen first: a second server on the same address ends before it touches the data directory.
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", cfg.Server.Addr)
	if err != nil {
		return fmt.Errorf("server.addr: %w%s", err, listenAdvice(err))
	}
	options = append(options, server.WithLogger(log), server.WithSettings(live))
	if demo {
		if cfg.UsesElasticsearch() {
			log.WarnContext(ctx, "--demo writes made-up items and readers into this index; use a separate index for it", "index", cfg.Elasticsearch.Index)
		}
		options = append(options, server.WithDemo())
	}
	return server.Run(ctx, listener, cfg, options...)
}

// listenAdvice says what to do if an address cannot be listened on; "" if the error says it.
func listenAdvice(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "; stop the process that listens there, or set another server.addr"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "; set server.addr to an address of this machine, or to :8080 for all of them"
	case errors.Is(err, syscall.EACCES):
		return "; set server.addr to a port above 1023, or allow this one (CAP_NET_BIND_SERVICE)"
	}
	return ""
}

func newWorkerCommand() *cobra.Command {
	return withLoad(&cobra.Command{
		Use:   "worker",
		Short: "Run the queue of jobs without serving requests",
		Long: "Brings posts into timelines and into the catalog until SIGINT or SIGTERM, for servers that have\n" +
			"jobs.workers 0. It answers /livez, /readyz and /metrics on server.addr, and nothing else.",
	}, func(cmd *cobra.Command, load loader, cfg configs.Config) error {
		switch {
		case !cfg.UsesPostgres():
			return errors.New("posts are not in PostgreSQL (postgres.url), so there is no queue that processes share: the server does the work itself")
		case cfg.Jobs.Workers == 0:
			return errors.New("jobs.workers is 0: set it to the number of jobs that this worker runs at once")
		}
		withoutDrain := func(cfg configs.Config) configs.Config { cfg.Server.Drain = 0; return cfg } // a worker has no clients
		return serve(cmd, withoutDrain(cfg), func() (configs.Config, error) {
			cfg, err := load()
			return withoutDrain(cfg), err
		}, false, server.WithProbesOnly())
	})
}

// reloadAtHangups reloads the configuration at each SIGHUP until stop is called, also at one that came before.
func reloadAtHangups(ctx context.Context, log *slog.Logger, live *livesettings.Settings) (stop func()) {
	stopped := make(chan struct{})
	go safego.Log(log, "reloads at SIGHUP", func() {
		for {
			select {
			case <-hangups:
				_, _ = live.Reload(ctx, "SIGHUP") // it logs its error
			case <-stopped:
				return
			}
		}
	})
	return func() { close(stopped) }
}

// flushWait is how long a process waits at its end for its last lines to be written.
const flushWait = time.Second

// serverLog returns the logger of a server process. Its log may be a pipe whose reader stalls or
// exits: neither may stop the process, so lines are queued, and the command's own output uses the
// same queue.
func serverLog(cmd *cobra.Command, format string, level slog.Leveler) *slog.Logger {
	// Without this, a write to a closed standard error ends the process.
	signal.Ignore(syscall.SIGPIPE)
	queue := logqueue.New(cmd.ErrOrStderr(), logqueue.Size, func(dropped int) []byte {
		var line bytes.Buffer
		newLogger(&line, format, level).Warn("log lines were dropped, because nobody read the log", "lines", dropped)
		return line.Bytes()
	})
	cmd.Root().SetErr(queue)
	return newLogger(queue, format, level)
}

// flush writes the lines that are still queued, if the output is a queue.
func flush(ctx context.Context, errs io.Writer) {
	queue, ok := errs.(*logqueue.Writer)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushWait)
	defer cancel()
	_ = queue.Flush(ctx) // if nobody reads the log, the error cannot be reported
}

// levelOf returns the level of the log. The configuration allows only valid ones.
func levelOf(cfg configs.Log) (level slog.Level) {
	_ = level.UnmarshalText([]byte(cfg.Level))
	return level
}

func newLogger(w io.Writer, format string, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

func newHealthCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a server whether it is ready; exit 1 if not",
		Long: "Asks /readyz, which reports on the server and everything it needs. Without --server it asks the\n" +
			"server.addr of the configuration (--config, and the environment).\n" +
			"Made for the health checks of containers, whose images have no shell and no curl.",
		Args: cobra.NoArgs,
	}
	server := serverFlag(cmd)
	config := cmd.Flags().String("config", "", "configuration file (YAML) that names server.addr")
	wait := cmd.Flags().Duration("timeout", 3*time.Second, "how long to wait for the answer")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		url, client := server(), http.DefaultClient
		named := cmd.Flags().Changed("server") || os.Getenv(configs.EnvServer) != ""
		if !named {
			cfg, err := configs.Load(configs.Options{Path: *config, Environ: os.Environ()})
			if err != nil {
				return err
			}
			url, client = localURL(cfg.Server.Addr), withoutProxy()
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), *wait)
		defer cancel()
		return health(ctx, client, cmd.OutOrStdout(), url)
	}
	return cmd
}

// localURL returns the URL by which this machine reaches a server that listens on addr: on loopback
// if it listens on all interfaces.
func localURL(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
		addr = net.JoinHostPort("127.0.0.1", port)
	}
	return "http://" + addr
}

// withoutProxy returns a client for a server of this machine. The proxy that the environment of a
// container names (HTTP_PROXY) is for other calls, and cannot reach it.
func withoutProxy() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	return &http.Client{Transport: transport}
}

// health prints the response, which lists each dependency and its state.
func health(ctx context.Context, client *http.Client, out io.Writer, server string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(server, "/")+"/readyz", nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("cannot reach the server: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("the server's response is incomplete: %w", err)
	}
	if _, err := fmt.Fprintf(out, "%s\n", strings.TrimSpace(string(body))); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server is not ready: it answered %s", res.Status)
	}
	if !isReadiness(body) {
		return fmt.Errorf("%s is not a Freshet server, whose /readyz lists its dependencies; correct --server or server.addr", server)
	}
	return nil
}

// isReadiness reports whether a response is one of /readyz: other servers answer 200 to any path.
func isReadiness(body []byte) bool {
	var e struct {
		Data struct {
			Dependencies map[string]any `json:"dependencies"`
		} `json:"data"`
	}
	return json.Unmarshal(body, &e) == nil && e.Data.Dependencies != nil
}
