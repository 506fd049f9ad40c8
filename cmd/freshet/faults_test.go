package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// These flags configure TestFaults; scripts/fault_injection.sh runs all of it.
var (
	faultsAll       = flag.Bool("faults.all", false, "all faults, not the few that CI has time for")
	faultsAge       = flag.Duration("faults.age", 3*time.Second, "how old the snapshot is that Redis is restored from")
	faultsFollowers = flag.Int("faults.followers", 200, "followers of the author in whose fan-out servers die")
)

// fault is a failure from which the system recovers without intervention. do returns when
// everything that it stopped runs again.
type fault struct {
	name    string
	short   bool // runs in CI
	cluster bool // the lists are in a cluster
	do      func(w *stage)
}

var faults = []fault{
	{"a server is killed three times amid writes", false, false, func(w *stage) {
		for range 3 {
			w.kill(0)
			w.restart(0)
		}
	}},
	{"a server and the worker are killed in a fan-out", true, false, func(w *stage) {
		w.fanOut()
		w.kill(1)
		w.kill(2)
		w.restart(1)
		w.restart(2)
	}},
	{"a server is killed while it builds lists", false, false, func(w *stage) {
		w.buildMany()
		w.kill(0)
		w.restart(0)
	}},
	{"Redis hangs for 5 s", false, false, func(w *stage) {
		w.redis.Freeze()
		time.Sleep(5 * time.Second)
		w.redis.Thaw()
	}},
	{"Redis is restarted empty", false, false, func(w *stage) {
		w.redis.Kill()
		w.redis.Start()
	}},
	{"Redis is down for 3 s and restored from a snapshot", true, false, func(w *stage) {
		w.redis.Save()
		time.Sleep(*faultsAge)
		w.redis.Kill()
		time.Sleep(3 * time.Second)
		w.happens()
		w.redis.Start()
	}},
	{"PostgreSQL crashes and is back after 3 s", false, false, func(w *stage) {
		w.postgres.Crash()
		time.Sleep(3 * time.Second)
		w.postgres.Start()
	}},
	{"a master of the cluster is killed, its replica takes over", false, true, func(w *stage) {
		w.killMaster()
	}},
}

// TestFaults runs servers, a worker and their services as processes, and kills some of them while
// clients write and read. No accepted write may be lost, nobody may be shown a post that is hidden
// from them, and timelines must become right again without intervention.
func TestFaults(t *testing.T) {
	testenv.Full(t, "kills")
	if testing.Short() {
		t.Skip("starts many processes")
	}
	for _, f := range faults {
		if !f.short && !*faultsAll {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			w := newStage(t, f.cluster)
			w.begin()
			time.Sleep(2 * time.Second) // of normal traffic
			w.happens()
			f.do(w)
			restored := time.Now()
			time.Sleep(5 * time.Second)
			w.end()
			w.compare()
			w.report(f.name, restored)
		})
	}
}

// stage holds the processes and the clients' model.
type stage struct {
	*testing.T
	settings map[string]string
	redis    *testenv.OwnRedis // nil for a cluster
	postgres *testenv.OwnPostgres
	nodes    string // directory of the cluster's nodes
	addrs    []string
	began    time.Time

	mu        sync.Mutex
	processes [3]*process // two servers and a worker
	model
}

func newStage(t *testing.T, cluster bool) *stage {
	w := &stage{T: t, settings: settings(t, "services"), postgres: testenv.StartPostgres(t), model: newModel()}
	if cluster {
		w.startCluster()
	} else {
		w.redis = testenv.StartRedis(t)
		w.addrs = []string{w.redis.Addr}
	}
	for name, value := range map[string]string{
		"REDIS_URL": testenv.RedisAt(w.addrs), "POSTGRES_URL": w.postgres.URL + "&pool_max_conns=10",
		"JOBS_WORKERS": "4", "SERVER_REQUEST_TIMEOUT": "5s",
	} {
		w.settings[name] = value
	}
	for i := range w.processes {
		w.restart(i)
	}
	w.people()
	return w
}

// startCluster starts a separate cluster for the stage.
func (w *stage) startCluster() {
	testenv.RedisClusterAddrs(w.T)                  // skips if the tests run without clusters
	dir, err := os.MkdirTemp("", "freshet-faults-") // a short path, without special characters from the test's name
	require.NoError(w, err)
	w.nodes = dir
	args := []string{"-p", strconv.Itoa(20000 + os.Getpid()%900*6), "-d", w.nodes}
	script := func(more ...string) string {
		out, err := exec.CommandContext(context.WithoutCancel(w.Context()), "../../scripts/redis-cluster", append(args, more...)...).CombinedOutput()
		require.NoError(w, err, "%s", out)
		return string(out)
	}
	w.Cleanup(func() { script("down") })
	_, list, ok := strings.Cut(strings.TrimSpace(script("up", "--", "--cluster-node-timeout", "2000")), "FRESHET_TEST_REDIS_CLUSTER=")
	require.True(w, ok)
	w.addrs = strings.Split(list, ",")
}

// killMaster kills a master's process and waits until the cluster has promoted another.
func (w *stage) killMaster() {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: w.addrs, ClusterStateReloadInterval: 100 * time.Millisecond})
	defer func() { _ = client.Close() }()
	of := func() string {
		master, err := client.MasterForKey(w.Context(), "{"+reader(0)+"}")
		if err != nil || master.Ping(w.Context()).Err() != nil {
			return ""
		}
		return master.Options().Addr
	}
	addr := of()
	_, port, _ := strings.Cut(addr, ":")
	text, err := os.ReadFile(filepath.Join(w.nodes, port+".pid"))
	require.NoError(w, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(w, err)
	require.NoError(w, syscall.Kill(pid, syscall.SIGKILL))
	testenv.WaitFor(w, func() bool { now := of(); return now != "" && now != addr }, "another master")
}

func (w *stage) process(i int) *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.processes[i]
}

func (w *stage) kill(i int) { w.process(i).kill(w.T) }

// restart replaces a process that has ended.
func (w *stage) restart(i int) {
	command, s := "serve", map[string]string{}
	for name, value := range w.settings {
		s[name] = value
	}
	s["DATA_DIR"] = filepath.Join(w.settings["DATA_DIR"], strconv.Itoa(i))
	if i == 2 {
		command = "worker"
	}
	p := startCommand(w.T, command, s)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.processes[i] = p
}

// fanOut publishes posts to many followers and returns while they are being delivered.
func (w *stage) fanOut() {
	for range 5 {
		w.publish(1, "big")
	}
}

// buildMany requests lists that do not exist and returns while they are being built.
func (w *stage) buildMany() {
	for i := range coldReaders {
		go func() {
			_ = w.call(context.WithoutCancel(w.Context()), 0, "POST", "/v1/timeline/warm", cold(i), "", nil)
		}()
	}
	time.Sleep(20 * time.Millisecond)
}

// happens marks the beginning of the fault and resets the counts of pages.
func (w *stage) happens() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began, w.saw = time.Now(), seen{}
}

// report logs a row of the table in docs/reliability.md.
func (w *stage) report(name string, restored time.Time) {
	s := &w.saw
	until, right := "-", "at the first look"
	if s.last.After(w.began) {
		until = fmt.Sprintf("%.1f s", s.last.Sub(w.began).Seconds())
	}
	if !w.equal.IsZero() {
		right = fmt.Sprintf("%.1f s", w.equal.Sub(restored).Seconds())
	}
	w.Logf("| %s | %d | %d | %d | %d | %s | %s |", name, s.pages, s.failed, s.degraded, s.lacking, until, right)
	assert.Positive(w, s.pages)
}
