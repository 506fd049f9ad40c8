package quality

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/freshet/freshet/feed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// start is the time at which the generated communities begin.
const start = 1_700_000_000

// file writes lines to a temporary file and returns its path.
func file(t testing.TB, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

// item returns a line of an items file.
func item(id string, at int64, more string) string {
	return fmt.Sprintf(`{"id":%q,"title":"About %[1]s","update_time":%d%s}`, id, at, more)
}

// act returns a line of an events file.
func act(at int64, reader, kind, id string) string {
	return fmt.Sprintf("%d\t%s\t%s\t%s", at, reader, kind, id)
}

// dataOf returns items i0, i1, … with these update times.
func dataOf(times ...int64) *Data {
	d := &Data{byID: map[string]int{}}
	for i, at := range times {
		id := fmt.Sprintf("i%d", i)
		d.items = append(d.items, feed.Item{ID: id, Title: id, UpdateTime: at})
		d.byID[id] = i
	}
	return d
}
