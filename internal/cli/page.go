// Package cli formats the output of the commands: pages, and tables that fit a terminal.
package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
)

// WritePage writes a page as a table and a line about it; why puts the reasons in
// place of the tags.
func WritePage(w io.Writer, p client.Page, why bool, now time.Time, width int) (err error) {
	header, last := []string{"#", "AGE", "ID", "TITLE", "TAGS"}, make([][]string, len(p.Items))
	for i, it := range p.Items {
		if last[i] = it.Tags; why {
			if last[i], err = reasons(it); err != nil {
				return err
			}
		}
	}
	if why {
		header[4] = "WHY"
	}
	return list(w, width, header, p.Items, func(i int, it feed.Item) []string {
		return []string{strconv.Itoa(i + 1), Age(now.Unix() - it.UpdateTime), it.ID, it.Title, strings.Join(last[i], ", ")}
	}, footer(p))
}

// reasons are those of an item, such as "interest go" and "fresh".
func reasons(it feed.Item) (out []string, err error) {
	in, err := client.InFeedOf(it)
	if in == nil {
		return nil, err
	}
	for _, r := range in.Why {
		out = append(out, strings.TrimSpace(string(r.Type)+" "+r.Value))
	}
	return out, nil
}

// write writes what was built. What goes before it cannot fail.
func write(w io.Writer, b *strings.Builder) error {
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes v as JSON for people.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func footer(p client.Page) string {
	s := fmt.Sprintf("items=%d, has_more=%t", len(p.Items), p.HasMore)
	if p.NewCount != nil {
		s += fmt.Sprintf(", new_count=%d", *p.NewCount)
	}
	s += lacking(p.Degraded)
	if p.RequestID != "" {
		s += ", request_id=" + p.RequestID
	}
	return s + "\n"
}

const gap = "  "

// lacking says what an answer had to do without.
func lacking(degraded []string) string {
	if len(degraded) == 0 {
		return ""
	}
	return ", degraded=" + strings.Join(degraded, ",")
}

// table aligns the columns and cuts cells where the rows would be too wide. A header alone
// is left out.
func table(b *strings.Builder, rows [][]string, width int) {
	if len(rows) == 1 {
		return
	}
	widths := columnWidths(rows)
	if width > 0 {
		shrink(widths, width-len(gap)*(len(widths)-1))
	}
	writeRows(b, rows, widths, func(column int) bool { return column < 2 })
}

func columnWidths(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
		}
	}
	return widths
}

// writeRows writes cells of these widths, those of some columns on the right.
func writeRows(b *strings.Builder, rows [][]string, widths []int, right func(column int) bool) {
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			cell = trim(cell, widths[i])
			padding := strings.Repeat(" ", widths[i]-uniseg.StringWidth(cell))
			if right(i) {
				cell, padding = padding, cell
			}
			line.WriteString(cell + padding + gap)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// shrink takes what does not fit from the columns in turn, each down to a
// least width: tags and ids first, the title last.
func shrink(widths []int, fit int) {
	excess := -fit
	for _, w := range widths {
		excess += w
	}
	for _, step := range []struct{ column, least int }{{4, 16}, {2, 24}, {3, fit / 3}, {2, 12}, {4, 0}, {3, 0}, {2, 0}} {
		if cut := min(excess, widths[step.column]-step.least); cut > 0 {
			widths[step.column] -= cut
			excess -= cut
		}
	}
}

// trim cuts a text to a number of columns, between characters that people see.
func trim(s string, width int) string {
	if uniseg.StringWidth(s) <= width {
		return s
	}
	var b strings.Builder
	for g, left := uniseg.NewGraphemes(s), width-1; g.Next() && g.Width() <= left; left -= g.Width() {
		b.WriteString(g.Str())
	}
	if width > 0 {
		b.WriteString("…")
	}
	return b.String()
}

// printable replaces what could move the cursor or colour the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s)
}

// Age writes seconds as people say it: 45s, 12m, 5h, 3d, 2y.
func Age(seconds int64) string {
	sign := ""
	if seconds < 0 { // dated later than now
		sign, seconds = "-", -seconds
	}
	for _, unit := range []struct {
		seconds int64
		name    string
	}{{365 * 86400, "y"}, {86400, "d"}, {3600, "h"}, {60, "m"}} {
		if seconds >= unit.seconds {
			return sign + strconv.FormatInt(seconds/unit.seconds, 10) + unit.name
		}
	}
	return sign + strconv.FormatInt(seconds, 10) + "s"
}
