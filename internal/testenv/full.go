package testenv

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Full skips the test unless FRESHET_TEST_FULL names its part, or is "all":
//
//   - alerts: faults that happen to a running server, and the alerts of them
//   - cuts: a connection that is cut before and after each command
//   - failover: a Redis Cluster or Sentinels that fail over
//   - judges: pages judged by Lighthouse and axe, which npm installs
//   - kills: processes that are killed while clients write and read
//   - models: long random models and replays of real networks
//   - s3: images in a real S3 bucket
//
// These tests take minutes. ".ci/run --full" runs all of them, ".ci/run" those whose
// code a change touches.
func Full(t testing.TB, part string) {
	t.Helper()
	if !InFull(part) {
		t.Skipf("set FRESHET_TEST_FULL to %s, or to all, to run this test", part)
	}
}

// InFull reports whether FRESHET_TEST_FULL asks for the part.
func InFull(part string) bool {
	parts := strings.Split(os.Getenv("FRESHET_TEST_FULL"), ",")
	return slices.Contains(parts, part) || slices.Contains(parts, "all")
}
