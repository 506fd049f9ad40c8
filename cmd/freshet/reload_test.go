package main

import (
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// says waits until the log of a server has a text n times.
func (p *process) says(t *testing.T, n int, text string) {
	t.Helper()
	testenv.WaitFor(t, func() bool { return strings.Count(p.log.String(), text) == n }, "%q %d times; the log:\n%s", text, n, p.log)
}

// passHangups lets child processes get SIGHUP: under nohup they would inherit that it is ignored.
func passHangups(t *testing.T) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
}

// TestReload edits the file of a running server, looks at the difference, and reloads it by the signal
// and by the command.
func TestReload(t *testing.T) {
	t.Parallel()
	passHangups(t)
	path := write(t, "freshet.yaml", "server: {rate_limit: 0}\n")
	edit := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	p := start(t, settings(t, "embedded"), "--config", path)
	command := func(name string) result {
		return freshet(t, "", "config", name, "--server", p.url, "--token", adminToken)
	}
	refresh := func() int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/v1/feed", strings.NewReader(`{"action":"refresh"}`))
		require.NoError(t, err)
		req.Header.Set("X-Agent-ID", "u_1")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	require.Equal(t, result{out: "a reload would change nothing\n"}, command("diff"))

	edit("server: {rate_limit: 0.001, request_timeout: 1s}\nrecall: {n: 800}\nlog: {level: debug}\n") // the environment has another timeout
	const rows = "setting            in force  loaded\n" +
		"server.rate_limit  0         0.001   STATE\n" +
		"recall.n           500       800     needs a restart\n" +
		"log.level          info      debug   STATE\n"
	require.Equal(t, result{out: strings.ReplaceAll(rows, "STATE", "changes with a reload")}, command("diff"))
	for range 3 {
		require.Equal(t, http.StatusOK, refresh(), "the difference changes nothing")
	}
	p.signal(syscall.SIGHUP)
	p.says(t, 1, `msg="the configuration is reloaded" by=SIGHUP changed=2 need_restart=1`)
	require.Equal(t, http.StatusOK, refresh())
	require.Equal(t, http.StatusTooManyRequests, refresh())
	p.status("/livez")
	p.says(t, 1, "level=DEBUG msg=request") // a probe

	edit("server: {rate_limit: -1}\nrecall: {m: 800}\n")
	for _, name := range []string{"diff", "reload"} {
		got := command(name)
		assert.Equal(t, exitError, got.code)
		assert.Contains(t, got.errs, "the configuration cannot be used")
		assert.Contains(t, got.errs, "recall.m is not a key")
	}
	p.signal(syscall.SIGHUP)
	p.says(t, 2, "the configuration was not reloaded; the one in force stays")
	require.Equal(t, http.StatusTooManyRequests, refresh())

	edit("log: {level: debug}\n")
	require.Equal(t, result{out: "setting            in force  loaded\nserver.rate_limit  0.001     0       changed; not set any more\n"}, command("reload"))
	for range 3 {
		require.Equal(t, http.StatusOK, refresh())
	}
	require.Equal(t, result{out: "the configuration is reloaded; nothing has changed\n"}, command("reload"))
	p.signal(syscall.SIGTERM)
	<-p.exited
	assert.Zero(t, p.cmd.ProcessState.ExitCode(), "log:\n%s", p.log)
}
