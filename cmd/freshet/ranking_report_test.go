package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
)

// TestReportAfterSIGTERM reads, clicks and stops the server at once, in either mode: the report of
// the next process includes everything.
func TestReportAfterSIGTERM(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"embedded", "services"} {
		t.Run(mode, func(t *testing.T) {
			s := settings(t, mode)
			p := start(t, s)
			p.fill(t, 50)
			searchable(t, p)
			for i := range 3 {
				var page struct{ Items []struct{ ID string } }
				agent := fmt.Sprint("u_", i)
				require.NoError(t, p.post(t.Context(), http.DefaultClient, "/v1/feed", agent, `{"action":"refresh","limit":10}`, &page))
				require.Len(t, page.Items, 10)
				c, err := client.New(p.url, client.WithAgent(agent))
				require.NoError(t, err)
				defer c.Close()
				taken, err := c.Events(t.Context(), client.Event{Type: client.Click, ID: page.Items[0].ID}, client.Event{Type: client.Hide, ID: page.Items[1].ID})
				require.NoError(t, err)
				require.Equal(t, client.EventsTaken{Accepted: 2}, taken)
			}
			p.signal(syscall.SIGTERM)
			<-p.exited
			require.Zero(t, p.cmd.ProcessState.ExitCode(), "log:\n%s", p.log)

			p = start(t, s)
			var out, errs bytes.Buffer
			code := run(context.Background(), []string{"ranking", "report", "--json", "--server", p.url, "--token", adminToken}, strings.NewReader(""), &out, &errs)
			require.Zero(t, code, errs.String())
			var report client.Report
			require.NoError(t, json.Unmarshal(out.Bytes(), &report))
			require.Len(t, report.Variants, 1)
			got := report.Variants[0]
			assert.EqualValues(t, 30, got.Impressions)
			assert.EqualValues(t, 3, got.Clicks)
			assert.EqualValues(t, 3, got.Hides)
			assert.EqualValues(t, 3, got.Agents)
			assert.Equal(t, 1.0, got.Share)

			out.Reset()
			code = run(context.Background(), []string{"ranking", "report", "--days", "1", "--server", p.url, "--token", adminToken}, strings.NewReader(""), &out, &errs)
			require.Zero(t, code, errs.String())
			assert.Contains(t, out.String(), "control")
		})
	}
}

func TestReportBadDays(t *testing.T) {
	for _, days := range []string{"0", "91", "x"} {
		var out, errs bytes.Buffer
		code := run(context.Background(), []string{"ranking", "report", "--days", days}, strings.NewReader(""), &out, &errs)
		assert.Equal(t, exitUsage, code)
		assert.Contains(t, errs.String(), "--days")
	}
}
