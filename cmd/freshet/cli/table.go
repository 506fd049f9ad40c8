package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// table is a table with a header. Its cells are printable: they contain nothing that moves the
// cursor or colours the terminal.
type table struct {
	// columns has a letter for each column: n for numbers, aligned right; w for words; t for texts,
	// which are cut if the rows would be too wide; i for ids, which are cut to no fewer than
	// leastID columns.
	columns string
	rows    [][]string
}

func newTable(columns string, header ...any) *table {
	t := &table{columns: columns}
	t.add(header...)
	return t
}

func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = printable(fmt.Sprint(cell))
	}
	t.rows = append(t.rows, row)
}

// write writes the table and the text after. Texts are cut so that rows fit into width terminal
// columns; with 0 they are not cut.
func (t *table) write(w io.Writer, width int, after string) error {
	_, err := io.WriteString(w, t.text(width)+after)
	return err
}

const gap = "  "

// leastID is the least width of an id, however narrow the terminal.
const leastID = 12

// text returns the aligned table, or "" if it has only a header.
func (t *table) text(width int) string {
	if len(t.rows) == 1 {
		return ""
	}
	widths := make([]int, len(t.columns))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
		}
	}
	if width > 0 {
		t.shrink(widths, width)
	}
	var b strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			cell = trim(cell, widths[i])
			padding := strings.Repeat(" ", widths[i]-uniseg.StringWidth(cell))
			if t.columns[i] == 'n' {
				cell, padding = padding, cell
			}
			line.WriteString(cell + padding + gap)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// shrink reduces the widths of texts and ids until rows fit, the widest first.
func (t *table) shrink(widths []int, fit int) {
	excess := len(gap)*(len(widths)-1) - fit
	for _, width := range widths {
		excess += width
	}
	for ; excess > 0; excess-- {
		widest := -1
		for i, width := range widths {
			if t.canShrink(i, width) && (widest < 0 || width > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// canShrink reports whether a column of a width may become narrower.
func (t *table) canShrink(column, width int) bool {
	switch t.columns[column] {
	case 't':
		return width > 0
	case 'i':
		return width > leastID
	}
	return false
}

// trim cuts a text to a number of columns, between graphemes.
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

// printable replaces characters that could move the cursor or colour the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s)
}
