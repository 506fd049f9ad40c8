package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// The tests of this file run the real binary as a separate process, and stop and kill it as an
// operator would.

const adminToken = "a-token-for-tests"

// asCommand is set in the environment of child processes; it makes the test binary run as freshet.
const asCommand = "TEST_FRESHET_AS_COMMAND"

// diskDir is the directory for temporary files before testenv.FilesInMemory changes it.
var diskDir = os.TempDir()

// binary is the executable that tests run as processes: the test binary itself, which saves a
// build. With the race detector it is a separate build without it, since these tests are about
// killed processes.
var binary = sync.OnceValues(func() (string, error) {
	if !testenv.Slow() {
		return os.Executable()
	}
	dir, err := os.MkdirTemp(diskDir, "freshet-binary-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "freshet")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "TMPDIR="+diskDir)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main() // does not return
	}
	_ = os.Setenv(asCommand, "1") // for child processes
	testenv.FilesInMemory()
	code := testenv.Reuse(m).Run()
	if path, err := binary(); err == nil && testenv.Slow() {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// process is a server under test.
type process struct {
	cmd    *exec.Cmd
	url    string
	log    *buffer
	exited chan struct{}
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// start runs the server with these settings (names without FRESHET_) and flags, and waits until it
// is ready.
func start(t *testing.T, settings map[string]string, args ...string) *process {
	t.Helper()
	return startCommand(t, "serve", settings, args...)
}

// startCommand is like start, for another command that serves.
func startCommand(t *testing.T, command string, settings map[string]string, args ...string) *process {
	t.Helper()
	settings = maps.Clone(settings)
	settings["AUTH_ADMIN_TOKEN"] = adminToken
	p := launch(t, command, settings, args...)
	testenv.WaitFor(t, func() bool {
		res, err := http.Get(p.url + "/readyz")
		if err != nil {
			p.stillThere(t)
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	}, "a server that is ready; its log:\n%s", p.log)
	return p
}

// serving matches the line, as text or JSON, that a server logs with its address.
var serving = regexp.MustCompile(`msg"?[=:]"?serving"?[ ,]"?addr"?[=:]"?([\d.:]+)`)

// launch runs a server on a free port and waits until it listens.
func launch(t *testing.T, command string, settings map[string]string, args ...string) *process {
	t.Helper()
	p := spawn(t, settings, append([]string{command}, args...)...)
	p.listens(t)
	return p
}

// spawn starts a command that serves on a free port, and waits for nothing.
func spawn(t *testing.T, settings map[string]string, args ...string) *process {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	p := &process{cmd: exec.Command(path, args...), log: &buffer{}, exited: make(chan struct{})}
	p.cmd.Env = environ(settings, "FRESHET_SERVER_ADDR=127.0.0.1:0", "FRESHET_SERVER_DRAIN=0s")
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	require.NoError(t, p.cmd.Start())
	go func() { _ = p.cmd.Wait(); close(p.exited) }()
	t.Cleanup(func() { p.signal(syscall.SIGKILL); <-p.exited })
	return p
}

// listens waits until a server listens, and notes its address.
func (p *process) listens(t *testing.T) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		if m := serving.FindStringSubmatch(p.log.String()); m != nil {
			p.url = "http://" + m[1]
			return true
		}
		p.stillThere(t)
		return false
	}, "a server that listens; its log:\n%s", p.log)
}

// environ returns the test's environment plus freshet's settings.
func environ(settings map[string]string, more ...string) []string {
	env := append(os.Environ(), more...)
	for name, value := range settings {
		env = append(env, "FRESHET_"+name+"="+value)
	}
	return env
}

// stillThere fails the test if the process has ended.
func (p *process) stillThere(t *testing.T) {
	t.Helper()
	select {
	case <-p.exited:
		t.Fatalf("the server has ended; its log:\n%s", p.log)
	default:
	}
}

// ended waits until the process has ended.
func (p *process) ended(t *testing.T) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		select {
		case <-p.exited:
			return true
		default:
			return false
		}
	}, "the end of the server; its log:\n%s", p.log)
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

func (p *process) kill(t *testing.T) {
	t.Helper()
	p.signal(syscall.SIGKILL)
	<-p.exited
}

// post sends one call and decodes the envelope's data.
func (p *process) post(ctx context.Context, client *http.Client, path, agent, body string, data any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("X-Agent-ID", agent)
	req.Header.Set("Authorization", "Bearer "+adminToken)
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	var envelope struct {
		Code int             `json:"code"`
		Msg  string          `json:"msg"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(all, &envelope); err != nil {
		return fmt.Errorf("%s: %w", all, err)
	}
	if envelope.Code != 0 {
		return fmt.Errorf("code %d: %s", envelope.Code, envelope.Msg)
	}
	return json.Unmarshal(envelope.Data, data)
}

// fill ingests n items with times in the past.
func (p *process) fill(t *testing.T, n int) {
	t.Helper()
	var body strings.Builder
	now := time.Now().Unix()
	for i := range n {
		fmt.Fprintf(&body, `{"id":"doc_%d","title":"Item number %d","update_time":%d}`+"\n", i, i, now-int64(i)-10)
	}
	var report struct{ Accepted, Rejected int }
	require.NoError(t, p.post(t.Context(), http.DefaultClient, "/v1/items", "", body.String(), &report))
	require.Equal(t, n, report.Accepted)
	require.Zero(t, report.Rejected)
}

// readers simulates agents that read as fast as they can and fail the test if an item is delivered
// twice.
type readers struct {
	t         *testing.T
	n         int
	mu        sync.Mutex
	seen      []map[string]bool
	delivered atomic.Int64
}

func newReaders(t *testing.T, n int) *readers {
	r := &readers{t: t, n: n, seen: make([]map[string]bool, n)}
	for i := range r.seen {
		r.seen[i] = map[string]bool{}
	}
	return r
}

// read makes every agent call the server until the server stops, ctx ends, or the agent has made
// most calls. It returns when all agents have stopped.
func (r *readers) read(ctx context.Context, p *process, most int) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: r.n}}
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	for agent := range r.n {
		wg.Go(func() {
			for call := range most {
				action := "load_more"
				if call%4 == 0 {
					action = "refresh"
				}
				var page struct{ Items []struct{ ID string } }
				err := p.post(ctx, client, "/v1/feed", fmt.Sprintf("u_%d", agent), `{"action":"`+action+`","limit":5}`, &page)
				if err != nil {
					return // killed or stopped: without a response nothing was delivered
				}
				r.mu.Lock()
				for _, it := range page.Items {
					if r.seen[agent][it.ID] {
						r.t.Errorf("u_%d was given %s twice", agent, it.ID)
					}
					r.seen[agent][it.ID] = true
				}
				r.mu.Unlock()
				r.delivered.Add(int64(len(page.Items)))
			}
		})
	}
	wg.Wait()
}

// settings returns the configuration of a mode, with separate storage for each call.
func settings(t *testing.T, mode string) map[string]string {
	s := map[string]string{
		"DATA_DIR": t.TempDir(),
		// Calls to Redis get a share of this timeout. On a machine busy with other tests, a healthy
		// Redis must not be taken for a dead one.
		"SERVER_REQUEST_TIMEOUT": "20s",
	}
	if mode == "embedded" {
		return s
	}
	_, prefix := testenv.Redis(t)
	address, index := testenv.ReusedElastic(t, "")
	for name, value := range map[string]string{
		"REDIS_URL": testenv.RedisURL(t), "REDIS_KEY_PREFIX": prefix,
		"ELASTICSEARCH_ADDRESSES": address, "ELASTICSEARCH_INDEX": index,
	} {
		s[name] = value
	}
	return s
}

// searchable waits until the ingested items can be found.
func searchable(t *testing.T, p *process) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		var page struct{ Items []struct{ ID string } }
		err := p.post(t.Context(), http.DefaultClient, "/v1/feed", "u_probe", `{"action":"refresh","silent":true}`, &page)
		return err == nil && len(page.Items) > 0
	}, "items that can be found")
}

// TestKill9 kills a server under load and restarts it: nothing that was delivered is delivered
// again, in either mode.
func TestKill9(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"embedded", "services"} {
		t.Run(mode, func(t *testing.T) {
			s := settings(t, mode)
			p := start(t, s)
			p.fill(t, 4000)
			searchable(t, p)
			r := newReaders(t, 16)
			for life := range 3 {
				before := r.delivered.Load()
				done := make(chan struct{})
				go func() { defer close(done); r.read(t.Context(), p, 1000) }()
				testenv.WaitFor(t, func() bool { return r.delivered.Load() > before+1500 }, "enough that is delivered in life %d", life)
				p.kill(t)
				<-done
				p = start(t, s)
			}
			before := r.delivered.Load()
			r.read(t.Context(), p, 20)
			assert.Greater(t, r.delivered.Load(), before, "after the last restart there is a feed again")
		})
	}
}

// TestSIGTERM stops a server under load: its deliveries are recorded or deferred, and the log says
// so.
func TestSIGTERM(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"embedded", "services"} {
		t.Run(mode, func(t *testing.T) {
			s := settings(t, mode)
			p := start(t, s)
			p.fill(t, 3000)
			searchable(t, p)
			r := newReaders(t, 8)
			done := make(chan struct{})
			go func() { defer close(done); r.read(t.Context(), p, 1000) }()
			testenv.WaitFor(t, func() bool { return r.delivered.Load() > 1000 }, "enough that is delivered")
			p.signal(syscall.SIGTERM)
			<-p.exited
			<-done
			assert.Zero(t, p.cmd.ProcessState.ExitCode(), "log:\n%s", p.log)
			delivered, recorded, deferred := p.totals(t)
			assert.Equal(t, delivered, recorded+deferred)
			assert.Equal(t, r.delivered.Load(), delivered, "what the server says it delivered is what the readers got")

			p = start(t, s)
			r.read(t.Context(), p, 20) // fails the test if an item is delivered twice
		})
	}
}

// TestSIGHUP checks that the signal that service managers and log rotation send, and that a closed
// terminal causes, ends no server: with Restart=on-failure nothing would start it again.
func TestSIGHUP(t *testing.T) {
	t.Parallel()
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP) // under nohup the server would otherwise inherit an ignored SIGHUP
	defer signal.Stop(caught)
	p := start(t, settings(t, "embedded"))
	for n := 1; n <= 2; n++ {
		p.signal(syscall.SIGHUP)
		p.says(t, n, `msg="the configuration is reloaded" by=SIGHUP changed=0 need_restart=0`)
	}
	p.fill(t, 10)
	p.signal(syscall.SIGTERM)
	<-p.exited
	assert.Zero(t, p.cmd.ProcessState.ExitCode(), "log:\n%s", p.log)
}

var totalsLine = regexp.MustCompile(`msg=stopped delivered=(\d+) recorded=(\d+) deferred=(\d+)`)

func (p *process) totals(t *testing.T) (delivered, recorded, deferred int64) {
	t.Helper()
	m := totalsLine.FindStringSubmatch(p.log.String())
	require.NotNil(t, m, "the log does not give the totals:\n%s", p.log)
	n := func(s string) int64 {
		v, err := strconv.ParseInt(s, 10, 64)
		require.NoError(t, err)
		return v
	}
	return n(m[1]), n(m[2]), n(m[3])
}
