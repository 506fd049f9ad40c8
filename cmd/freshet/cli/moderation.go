package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/client"
)

// WriteReported prints a reported object with its newest reports, and the post that it is; nil if it is none, or was
// deleted. What agents have written is printed without characters that a terminal would obey.
func WriteReported(w io.Writer, o *client.ReportedObject, post *client.ModeratedPost, now time.Time) error {
	lines := []string{"", fmt.Sprintf("%s %s: reported by %d (%s), last %s ago", o.Kind, printable(o.ID), o.Count, reasonsOf(o), ago(o.Latest, now))}
	for _, r := range o.Reports {
		line := "  " + printable(r.Agent) + ": " + string(r.Reason)
		if r.Details != "" {
			line += ": " + printable(r.Details)
		}
		lines = append(lines, line)
	}
	switch {
	case post != nil:
		lines = append(lines, fmt.Sprintf("  by %s, %s ago%s", printable(post.Author), ago(post.CreatedAt, now), stateOf(post)), "  | "+printable(post.Caption))
		for _, image := range post.Images {
			lines = append(lines, "  | "+image.URL+" "+printable(image.Alt))
		}
	case o.Kind == client.ReportedPost:
		lines = append(lines, "  it was deleted")
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

func reasonsOf(o *client.ReportedObject) string {
	var list []string
	for _, reason := range slices.Sorted(maps.Keys(o.Reasons)) {
		list = append(list, fmt.Sprintf("%s %d", reason, o.Reasons[reason]))
	}
	return strings.Join(list, ", ")
}

func stateOf(p *client.ModeratedPost) string {
	text := ""
	if p.State != "" {
		text += ", " + string(p.State)
	}
	if p.SuspendedUntil > 0 {
		text += ", its author is suspended until " + time.Unix(p.SuspendedUntil, 0).UTC().Format(time.RFC3339)
	}
	return text
}

func ago(at int64, now time.Time) string {
	return max(now.Sub(time.Unix(at, 0)), 0).Round(time.Second).String()
}
