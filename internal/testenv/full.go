package testenv

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Full skips the test unless FRESHET_TEST_FULL contains its part or "all":
//
//   - alerts: faults of a running server, and their alerts
//   - cuts: connections that are cut before and after each command, and rights that are revoked
//   - failover: a Redis Cluster or Sentinels that fail over, and the suite of each store through
//     Sentinels and with replicas that confirm each write
//   - judges: pages judged by Lighthouse and axe, which npm installs
//   - kills: processes that are killed while clients write and read
//   - models: long random models and replays of real networks
//   - pages: details of pages in a browser
//   - poolers: PostgreSQL through PgBouncer
//   - s3: images and backups in a real S3 bucket
//   - years: 14 months of compressed time, after which nothing grows
//
// These tests take minutes. ".ci/run --full" runs all of them, ".ci/run" none.
func Full(t testing.TB, part string) {
	t.Helper()
	if !InFull(part) {
		t.Skipf("set FRESHET_TEST_FULL to %s, or to all, to run this test", part)
	}
}

// Steps returns the size of a test whose cases are many or random: full if the part "models" runs,
// otherwise few.
func Steps(few, full int) int {
	if InFull("models") {
		return full
	}
	return few
}

// InFull reports whether FRESHET_TEST_FULL contains the part.
func InFull(part string) bool {
	parts := strings.Split(os.Getenv("FRESHET_TEST_FULL"), ",")
	return slices.Contains(parts, part) || slices.Contains(parts, "all")
}
