package testenv

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
)

// OwnRedis is a real Redis of one test, which the test may stop, freeze and restart. It stores
// nothing on disk: after a restart it is empty, or has the data of the last Save.
type OwnRedis struct {
	Addr   string
	t      testing.TB
	module string
	dir    string
	saved  []byte // a snapshot; nil means none
	cmd    *exec.Cmd
}

// StartRedis starts one with the module of the server that FRESHET_TEST_REDIS names. It is killed
// when the test ends.
func StartRedis(t testing.TB) *OwnRedis {
	t.Helper()
	r := &OwnRedis{Addr: FreeAddr(t), t: t, module: bloomModule(t)}
	r.Start()
	t.Cleanup(r.Kill)
	return r
}

// bloomModule returns the file of the module with the Bloom filters, or "" if they are built into
// the server.
func bloomModule(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		missing(t, "PATH", "one with a redis-server")
	}
	opts, err := redis.ParseURL(RedisURL(t))
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(opts)
	defer func() { _ = c.Close() }()
	modules, err := c.Do(t.Context(), "MODULE", "LIST").Slice()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		if fields, ok := m.(map[any]any); ok && fields["name"] == "bf" {
			path, _ := fields["path"].(string)
			return path
		}
	}
	return ""
}

// Save takes a snapshot, which every later Start loads.
func (r *OwnRedis) Save() {
	r.t.Helper()
	c := redis.NewClient(&redis.Options{Addr: r.Addr})
	defer func() { _ = c.Close() }()
	if err := c.Save(context.Background()).Err(); err != nil {
		r.t.Fatal(err)
	}
	r.Saved()
}

// Saved takes over the snapshot that the test has made the server write.
func (r *OwnRedis) Saved() {
	r.t.Helper()
	saved, err := os.ReadFile(filepath.Join(r.dir, "dump.rdb"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.saved = saved
}

// Start starts it, empty or from the snapshot, and waits until it answers.
func (r *OwnRedis) Start() {
	r.t.Helper()
	r.start(r.module)
}

// StartBare is Start without the module of Bloom filters. If they are built in, the test is
// skipped.
func (r *OwnRedis) StartBare() {
	r.t.Helper()
	if r.module == "" {
		r.t.Skip("this Redis has Bloom filters built in")
	}
	r.start("")
}

func (r *OwnRedis) start(module string) {
	r.t.Helper()
	r.dir = r.t.TempDir()
	if r.saved != nil {
		if err := os.WriteFile(filepath.Join(r.dir, "dump.rdb"), r.saved, 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	host, port, _ := net.SplitHostPort(r.Addr)
	args := []string{"--bind", host, "--port", port, "--save", "", "--dir", r.dir}
	if module != "" {
		args = append(args, "--loadmodule", module)
	}
	r.cmd = exec.Command("redis-server", args...)
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	c := redis.NewClient(&redis.Options{Addr: r.Addr, MaxRetries: -1})
	defer func() { _ = c.Close() }()
	WaitFor(r.t, func() bool { return c.Ping(context.Background()).Err() == nil }, "the test's own redis-server to answer")
}

// Kill ends it immediately; its data is lost.
func (r *OwnRedis) Kill() {
	if r.cmd != nil {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		r.cmd = nil
	}
}

// Freeze suspends it without closing its connections, like a machine that hangs.
func (r *OwnRedis) Freeze() { _ = r.cmd.Process.Signal(syscall.SIGSTOP) }

// Thaw resumes it.
func (r *OwnRedis) Thaw() { _ = r.cmd.Process.Signal(syscall.SIGCONT) }

// SentinelMaster is the name of the master that the Sentinel of [StartSentinel] watches.
const SentinelMaster = "own"

// StartSentinel starts a Sentinel that watches a Redis, and returns a client with all rights. It is
// killed when the test ends.
func StartSentinel(t testing.TB, master *OwnRedis) *redis.Client {
	t.Helper()
	host, port, _ := net.SplitHostPort(FreeAddr(t))
	masterHost, masterPort, _ := net.SplitHostPort(master.Addr)
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	text := "bind " + host + "\nport " + port + "\nsentinel monitor " + SentinelMaster + " " + masterHost + " " + masterPort + " 1\n" +
		"user test on >test allcommands allchannels\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("redis-server", file, "--sentinel")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	c := redis.NewClient(&redis.Options{Addr: net.JoinHostPort(host, port), Username: "test", Password: "test", MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	WaitFor(t, func() bool { return c.Ping(context.Background()).Err() == nil }, "the test's own Sentinel to answer")
	return c
}
