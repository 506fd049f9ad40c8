package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/freshet/freshet/client"
)

// WritePromotions writes a page of promotions. Rows are trimmed to width columns; 0
// leaves them whole.
func WritePromotions(w io.Writer, p client.PromotionPage, width int) error {
	var b strings.Builder
	if len(p.Promotions) == 0 {
		b.WriteString("there are no promotions\n")
		return write(w, &b)
	}
	rows := [][]string{{"WEIGHT", "FROM (UTC)", "UNTIL (UTC)", "ID", "ITEM", "FOR", "STATE"}}
	for _, one := range p.Promotions {
		state := "runs"
		if !one.Runs {
			state = one.Why
		}
		rows = append(rows, []string{
			fmt.Sprint(one.Weight), minute(one.From), minute(one.Until), printable(one.ID), printable(one.ItemID), target(one), printable(state),
		})
	}
	table(&b, rows, width)
	if p.NextAfter != nil {
		fmt.Fprintf(&b, "next: --after %s\n", printable(*p.NextAfter))
	}
	return write(w, &b)
}

// target says for whom a promotion is.
func target(p client.Promotion) string {
	var parts []string
	if len(p.Tags) > 0 {
		parts = append(parts, "tags "+printable(strings.Join(p.Tags, ", ")))
	}
	if len(p.Langs) > 0 {
		parts = append(parts, "langs "+printable(strings.Join(p.Langs, ", ")))
	}
	if len(parts) == 0 {
		return "everybody"
	}
	return strings.Join(parts, "; ")
}

func minute(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04") }
