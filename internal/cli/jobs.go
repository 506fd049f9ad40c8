package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/freshet/freshet/client"
)

// WriteJobs writes how many jobs there are, and a page of them. Rows are trimmed to
// width columns; 0 leaves them whole.
func WriteJobs(w io.Writer, p client.JobPage, now time.Time, width int) error {
	var b strings.Builder
	rows := [][]string{{"TRIES", "AGE", "ID", "KIND", "STATE", "KEY", "ERROR"}}
	for _, j := range p.Jobs {
		rows = append(rows, []string{
			fmt.Sprint(j.Attempts), waits(now.Sub(j.Due)), fmt.Sprint(j.ID), j.Kind, j.State, printable(j.Key), printable(j.Error),
		})
	}
	if len(p.Jobs) > 0 {
		table(&b, rows, width)
		b.WriteString("\n")
	}
	counts := make([]string, len(p.Queue.Rows))
	for i, r := range p.Queue.Rows {
		counts[i] = fmt.Sprintf("%s %s=%d", r.Kind, r.State, r.Count)
	}
	if len(counts) == 0 {
		counts = []string{"the queue is empty"}
	}
	b.WriteString(strings.Join(counts, ", "))
	if p.Queue.Oldest > 0 {
		fmt.Fprintf(&b, "; the oldest has waited for %s", Age(int64(p.Queue.Oldest)))
	}
	b.WriteString("\n")
	if p.NextAfter != nil {
		fmt.Fprintf(&b, "next: --after %d\n", *p.NextAfter)
	}
	return write(w, &b)
}

// waits says how long a job should have been done, or when it is due.
func waits(age time.Duration) string {
	if age < 0 {
		return "in " + Age(int64(-age.Seconds()))
	}
	return Age(int64(age.Seconds()))
}
