package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/freshet/freshet/client"
)

// WriteTimeline writes a page of a timeline as a table and a line about it. Rows
// are trimmed to width columns; 0 leaves them whole.
func WriteTimeline(w io.Writer, p client.PostPage, now time.Time, width int) error {
	rows := [][]string{{"AGE", "LIKES", "AUTHOR", "WHY", "ID", "CAPTION"}}
	for _, post := range p.Items {
		why := ""
		if post.InFeed != nil {
			why = post.InFeed.Reason
		}
		caption, _, _ := strings.Cut(post.Caption, "\n")
		rows = append(rows, []string{
			Age(now.Unix() - post.CreatedAt), fmt.Sprint(post.Likes), printable(post.Author.ID), printable(why), printable(post.ID), printable(caption),
		})
	}
	var b strings.Builder
	if len(p.Items) > 0 {
		table(&b, rows, width)
	}
	fmt.Fprintf(&b, "posts=%d, has_more=%t", len(p.Items), p.HasMore)
	if len(p.Degraded) > 0 {
		b.WriteString(", degraded=" + strings.Join(p.Degraded, ","))
	}
	b.WriteString("\n")
	if p.HasMore {
		b.WriteString("next: --cursor " + printable(p.NextCursor) + "\n")
	}
	return write(w, &b)
}
