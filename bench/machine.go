package bench

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/esindex"
)

// inspectMachine describes the machine. Unknown values stay empty.
func inspectMachine(ctx context.Context, m *meter) Machine {
	here := Machine{
		Time: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		CPU: cpuModel(), Cores: runtime.GOMAXPROCS(0), LoadBefore: loadAverages(),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		here.Freshet = info.Main.Version
	}
	if m.redis != nil {
		var mu sync.Mutex
		_ = eachMaster(ctx, m.redis, func(ctx context.Context, c *redis.Client) error {
			info, err := redisInfo(ctx, c, "server")
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				here.Redis = info["redis_version"]
			}
			return err
		})
	}
	if m.elastic != nil {
		var root struct {
			Version struct {
				Number string `json:"number"`
			} `json:"version"`
		}
		_ = esindex.Do(ctx, m.elastic, http.MethodGet, "/", "", nil,
			func(body []byte) error { return json.Unmarshal(body, &root) })
		here.Elasticsearch = root.Version.Number
	}
	return here
}

func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func loadAverages() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}
