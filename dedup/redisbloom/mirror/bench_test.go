package mirror

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// sevenDays fills seven filters to the share of their capacity, with members
// nobody asks for, and gives one agent 100 impressions among them.
func sevenDays(b *testing.B, capacity int, share float64) (plain *redisbloom.Store, copied mirrored, client *redis.Client) {
	b.Helper()
	server := testenv.StartRedis(b)
	client = redis.NewClient(&redis.Options{Addr: server.Addr})
	b.Cleanup(func() { _ = client.Close() })
	cfg := deduptest.DefaultConfig()
	cfg.DailyCapacity = capacity
	copied, _ = mirroredAt(b, client, "", cfg, plenty)
	copied.mirror.asked = verifyAsked
	plain = plainAt(b, client, "", cfg)
	n := int(share * float64(capacity))
	for ago := range 7 {
		now := noon.AddDate(0, 0, -ago)
		record(b, plain, now, given("u_1", groupNames(ago*15, ago*15+15)...))
		for from := 0; from < n; from += 10_000 {
			record(b, plain, now, given("u_"+strconv.Itoa(from), groupNames(0, min(10_000, n-from))...))
		}
	}
	return plain, copied, client
}

// BenchmarkMirror is the dedup step of a refresh, 500 candidates over seven
// filters, with and without the mirror. The two take turns against a Redis of
// the benchmark's own, whose CPU seconds each round are read from INFO.
func BenchmarkMirror(b *testing.B) {
	plain, mirrored, client := sevenDays(b, 200_000, 0.5)
	copying := time.Now()
	before := cpuOf(b, client)
	if err := mirrored.mirror.bring(b.Context(), noon); err != nil {
		b.Fatal(err)
	}
	b.Logf("copying and comparing six filters: %s, %.1f ms of Redis", time.Since(copying), 1000*(cpuOf(b, client)-before))
	groups := groupNames(0, 500)
	require.Equal(b, verdicts(b, plain, noon, "u_1", groups...), verdicts(b, mirrored, noon, "u_1", groups...))

	const checks, rounds = 300, 9
	run := func(s dedup.Checker) (cpu, wall float64) {
		start, began := cpuOf(b, client), time.Now()
		for range checks {
			if _, err := s.Check(b.Context(), "u_1", groups, noon); err != nil {
				b.Fatal(err)
			}
		}
		return (cpuOf(b, client) - start) * 1e6 / checks, time.Since(began).Seconds() * 1e6 / checks
	}
	var c1, c2, w1, w2, cr, wr []float64
	for b.Loop() {
		for range rounds {
			cpu, wall := run(plain)
			cpuMirrored, wallMirrored := run(mirrored)
			c1, c2, w1, w2 = append(c1, cpu), append(c2, cpuMirrored), append(w1, wall), append(w2, wallMirrored)
			cr, wr = append(cr, cpuMirrored/cpu), append(wr, wallMirrored/wall)
		}
	}
	for name, list := range map[string][]float64{
		"redis-µs/plain": c1, "redis-µs/mirrored": c2, "wall-µs/plain": w1, "wall-µs/mirrored": w2, "redis-ratio": cr, "wall-ratio": wr,
	} {
		slices.Sort(list)
		b.ReportMetric(list[len(list)/2], name)
		b.Logf("%s: %.2f (%.2f to %.2f)", name, list[len(list)/2], list[0], list[len(list)-1])
	}
}

// cpuOf is how many CPU seconds a Redis has used.
func cpuOf(b *testing.B, client *redis.Client) (sum float64) {
	b.Helper()
	info, err := client.Info(b.Context(), "cpu").Result()
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_user" || name == "used_cpu_sys" {
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				b.Fatal(err)
			}
			sum += seconds
		}
	}
	return sum
}

// BenchmarkCopies is the in-process part alone: 500 candidates over copies of
// as many days.
func BenchmarkCopies(b *testing.B) {
	for _, capacity := range []int{20_000, 1_000_000} {
		b.Run(fmt.Sprintf("%d a day", capacity), func(b *testing.B) {
			_, mirrored, _ := sevenDays(b, capacity, 0.5)
			if err := mirrored.mirror.bring(b.Context(), noon.AddDate(0, 0, 1)); err != nil {
				b.Fatal(err)
			}
			days := feed.Window(noon.AddDate(0, 0, 1), 7)
			var members []string
			for _, imp := range given("u_1", groupNames(1000, 1500)...) {
				members = append(members, imp.Member())
			}
			b.ReportAllocs()
			for b.Loop() {
				mirrored.mirror.Find("u_1", days, members)
			}
		})
	}
}
