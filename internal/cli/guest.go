package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/client"
)

// WriteGuestPage writes the feed for readers without an account as a table, with what
// is hot or warm, and a line about it.
func WriteGuestPage(w io.Writer, p client.GuestPage, now time.Time, width int) error {
	rows := [][]string{{"#", "AGE", "TREND", "ID", "TITLE", "TAGS"}}
	for i, it := range p.Items {
		in, err := client.InFeedOf(it)
		if err != nil {
			return err
		}
		trend := ""
		switch {
		case in != nil && in.IsPromoted:
			trend = "promoted"
		case in != nil:
			trend = in.Trend
		}
		rows = append(rows, []string{
			strconv.Itoa(i + 1), Age(now.Unix() - it.UpdateTime), printable(trend), printable(it.ID), printable(it.Title), printable(strings.Join(it.Tags, ", ")),
		})
	}
	var b strings.Builder
	if len(p.Items) > 0 {
		table(&b, rows, width)
	}
	fmt.Fprintf(&b, "items=%d", len(p.Items))
	if len(p.Degraded) > 0 {
		b.WriteString(", degraded=" + strings.Join(p.Degraded, ","))
	}
	b.WriteByte('\n')
	return write(w, &b)
}
