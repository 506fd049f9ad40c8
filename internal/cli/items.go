package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/freshet/freshet/client"
)

// WriteItems writes a page of items, a row each. Rows are trimmed to width columns; 0
// leaves them whole.
func WriteItems(w io.Writer, p client.ItemPage, now time.Time, width int) error {
	var b strings.Builder
	if len(p.Items) == 0 {
		b.WriteString("no items\n")
	} else {
		rows := [][]string{{"AGE", "LIKES", "COMMENTS", "ID", "AUTHOR", "TAGS", "TITLE"}}
		for _, it := range p.Items {
			rows = append(rows, []string{
				waits(now.Sub(time.Unix(it.UpdateTime, 0))), fmt.Sprint(it.Likes), fmt.Sprint(it.Comments),
				printable(it.ID), printable(it.AuthorID), printable(strings.Join(it.Tags, ",")), printable(it.Title),
			})
		}
		table(&b, rows, width)
	}
	if p.NextCursor != nil {
		fmt.Fprintf(&b, "next: --cursor %s\n", printable(*p.NextCursor))
	}
	return write(w, &b)
}
