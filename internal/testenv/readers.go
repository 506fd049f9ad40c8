package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

// Readers returns the files of the posts and the reading events of a real community, in the format
// of freshet-bench --quality. FRESHET_TEST_READERS names their folder, which must contain one
// *-items.ndjson.gz and one *-events.tsv.gz. Without it the test is skipped.
func Readers(t testing.TB) (items, events string) {
	t.Helper()
	folder := os.Getenv("FRESHET_TEST_READERS")
	if folder == "" {
		missing(t, "FRESHET_TEST_READERS", "a folder with an *-items.ndjson.gz and an *-events.tsv.gz of real readers")
	}
	one := func(pattern string) string {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(found) != 1 {
			t.Fatalf("FRESHET_TEST_READERS: %s must have one %s, not %d", folder, pattern, len(found))
		}
		return found[0]
	}
	return one("*-items.ndjson.gz"), one("*-events.tsv.gz")
}
