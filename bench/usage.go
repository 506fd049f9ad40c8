package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/esindex"
)

// Names of processes in reports.
const (
	thisProcess     = "freshet" // includes the clients of the measurement
	redisProcess    = "redis"   // sum of all masters
	elasticProcess  = "elasticsearch"
	databaseProcess = "postgres" // sum of all its processes
)

// usage holds the resources used since the processes started.
type usage struct {
	cpu       map[string]time.Duration // by process; unknown ones are missing
	mallocs   uint64
	allocated uint64 // bytes
}

func (u usage) minus(before usage) usage {
	d := usage{cpu: map[string]time.Duration{}, mallocs: u.mallocs - before.mallocs, allocated: u.allocated - before.allocated}
	for name, spent := range u.cpu {
		if was, ok := before.cpu[name]; ok {
			d.cpu[name] = spent - was
		}
	}
	return d
}

func (u usage) plus(more usage) usage {
	sum := usage{cpu: maps.Clone(u.cpu), mallocs: u.mallocs + more.mallocs, allocated: u.allocated + more.allocated}
	if sum.cpu == nil {
		sum.cpu = map[string]time.Duration{}
	}
	for name, spent := range more.cpu {
		sum.cpu[name] += spent
	}
	return sum
}

// meter reads the resource usage of the processes. Nil services are skipped.
type meter struct {
	redis      redis.UniversalClient
	elastic    esindex.Client
	postgres   *pgxpool.Pool // used by the bare handlers
	postmaster int           // the parent of PostgreSQL's processes on this machine, or 0
	pid        int           // process id of Elasticsearch if it runs here, else 0
}

func (m *meter) read(ctx context.Context) (usage, error) {
	u := usage{cpu: map[string]time.Duration{}}
	if m.redis != nil {
		spent, err := redisCPU(ctx, m.redis)
		if err != nil {
			return u, fmt.Errorf("CPU time of Redis: %w", err)
		}
		u.cpu[redisProcess] = spent
	}
	if m.elastic != nil {
		spent, err := m.elasticCPU(ctx)
		if err != nil {
			return u, fmt.Errorf("CPU time of Elasticsearch: %w", err)
		}
		u.cpu[elasticProcess] = spent
	}
	if m.postmaster != 0 {
		spent, err := postgresCPU(m.postmaster)
		if err != nil {
			return u, fmt.Errorf("CPU time of PostgreSQL: %w", err)
		}
		u.cpu[databaseProcess] = spent
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	u.mallocs, u.allocated = mem.Mallocs, mem.TotalAlloc
	// Reading it last before and first after the measured work would be better still,
	// but the code above takes only microseconds.
	if spent, ok := ownCPU(); ok {
		u.cpu[thisProcess] = spent
	}
	return u, nil
}

func (m *meter) elasticCPU(ctx context.Context) (time.Duration, error) {
	if m.pid != 0 {
		return processCPU(m.pid)
	}
	return elasticCPU(ctx, m.elastic)
}

// eachMaster calls f with the server, or with each master of a cluster.
func eachMaster(ctx context.Context, client redis.UniversalClient, f func(context.Context, *redis.Client) error) error {
	switch c := client.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, f)
	case *redis.Client:
		return f(ctx, c)
	}
	return fmt.Errorf("cannot query the servers of a %T one by one", client)
}

// redisInfo returns the fields of a section of INFO.
func redisInfo(ctx context.Context, c *redis.Client, section string) (map[string]string, error) {
	text, err := c.Info(ctx, section).Result()
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok {
			fields[name] = value
		}
	}
	return fields, nil
}

func redisCPU(ctx context.Context, client redis.UniversalClient) (time.Duration, error) {
	var mu sync.Mutex
	var sum float64
	err := eachMaster(ctx, client, func(ctx context.Context, c *redis.Client) error {
		info, err := redisInfo(ctx, c, "cpu")
		if err != nil {
			return err
		}
		user, err1 := strconv.ParseFloat(info["used_cpu_user"], 64)
		sys, err2 := strconv.ParseFloat(info["used_cpu_sys"], 64)
		mu.Lock()
		defer mu.Unlock()
		sum += user + sys
		return errors.Join(err1, err2)
	})
	return time.Duration(sum * float64(time.Second)), err
}

// elasticCPU returns the CPU time of all nodes. Elasticsearch updates its figures once per
// second; if the node runs on this machine, the kernel's current figures are used instead.
func elasticCPU(ctx context.Context, client esindex.Client) (time.Duration, error) {
	var stats struct {
		Nodes map[string]struct {
			Process struct {
				CPU struct {
					Total int64 `json:"total_in_millis"`
				} `json:"cpu"`
			} `json:"process"`
		} `json:"nodes"`
	}
	err := esindex.Do(ctx, client, http.MethodGet, "/_nodes/stats/process", "", nil,
		func(body []byte) error { return json.Unmarshal(body, &stats) })
	var sum time.Duration
	for _, node := range stats.Nodes {
		sum += time.Duration(node.Process.CPU.Total) * time.Millisecond
	}
	return sum, err
}

// localElastic returns the process id of the only node, if it runs on this machine and /proc is
// available.
func localElastic(ctx context.Context, client esindex.Client) (pid int, ok bool) {
	var info struct {
		Nodes map[string]struct {
			Process struct {
				ID int `json:"id"`
			} `json:"process"`
		} `json:"nodes"`
	}
	err := esindex.Do(ctx, client, http.MethodGet, "/_nodes/process", "", nil,
		func(body []byte) error { return json.Unmarshal(body, &info) })
	if err != nil || len(info.Nodes) != 1 {
		return 0, false
	}
	for _, node := range info.Nodes {
		pid = node.Process.ID
	}
	// If the node runs in a container, its number may belong to another process here.
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !strings.Contains(string(line), "elasticsearch") {
		return 0, false
	}
	_, err = processCPU(pid)
	return pid, err == nil
}

// processCPU returns the CPU time of a process from /proc.
func processCPU(pid int) (time.Duration, error) {
	const user = 11 // system time follows
	return cpuFields(pid, user)
}

// endedCPU returns the CPU time of those children of a process that have ended.
func endedCPU(pid int) (time.Duration, error) {
	const childrenUser = 13 // their system time follows
	return cpuFields(pid, childrenUser)
}

// cpuFields returns the sum of a field of /proc/PID/stat after the name, and the next one.
func cpuFields(pid, first int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may contain anything; the fields after it are numbers.
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	const ticks = 100 // Linux reports 100 ticks per second to user space on every platform
	if len(fields) <= first+1 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	u, err1 := strconv.ParseInt(fields[first], 10, 64)
	s, err2 := strconv.ParseInt(fields[first+1], 10, 64)
	return time.Duration(u+s) * time.Second / ticks, errors.Join(err1, err2)
}
