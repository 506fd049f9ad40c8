package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// onlyDataDir runs a command in a view of the files in which no directory for temporary files can be
// written, as in a container with a read-only root.
const onlyDataDir = `for dir in /tmp /var/tmp /usr/tmp; do
	if [ -d "$dir" ]; then mount --rbind "$dir" "$dir" && mount -o remount,ro,bind "$dir" || exit 1; fi
done
cd /proc && exec "$0" "$@"`

// TestNoTemporaryFiles uploads items to an embedded server that can write to data_dir alone.
func TestNoTemporaryFiles(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	path, err := binary()
	require.NoError(t, err)
	dir := disk(t, "size=500m")
	p := &process{cmd: exec.Command("unshare", "--mount", "sh", "-c", onlyDataDir, path, "serve"), log: &buffer{}, exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "FRESHET_DATA_DIR="+dir, "FRESHET_SERVER_ADDR=127.0.0.1:0", "FRESHET_AUTH_ADMIN_TOKEN="+adminToken, "TMPDIR=/proc", "SQLITE_TMPDIR=/proc")
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	require.NoError(t, p.cmd.Start())
	go func() { _ = p.cmd.Wait(); close(p.exited) }()
	t.Cleanup(func() { p.signal(syscall.SIGKILL); <-p.exited })
	testenv.WaitFor(t, func() bool {
		p.stillThere(t)
		m := serving.FindStringSubmatch(p.log.String())
		if m == nil {
			return false
		}
		p.url = "http://" + m[1]
		return true
	}, "a server that listens; its log:\n%s", p.log)
	const batches, lines = 70, 1000 // without temporary files some 50 of them were stored
	for batch := range batches {
		var body strings.Builder
		for i := range lines {
			id := batch*lines + i
			fmt.Fprintf(&body, `{"id":"doc_%d","title":"Title`, id)
			for word := range 12 {
				fmt.Fprintf(&body, " word%d", (id+1)*(word+7919)%9973)
			}
			fmt.Fprintf(&body, `","tags":["t%d"],"update_time":%d}`+"\n", id%50, 1_400_000_000+id)
		}
		var report struct{ Accepted int }
		require.NoError(t, p.post(t.Context(), http.DefaultClient, "/v1/items", "", body.String(), &report), "batch %d", batch)
		require.Equal(t, lines, report.Accepted)
	}
}
