// Package cli formats the output of the commands: pages, and tables that fit a terminal.
package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
)

// WritePage writes a page as a table and a summary line; with why, it shows the reasons instead of
// the tags.
func WritePage(w io.Writer, p client.Page, why bool, now time.Time, width int) error {
	last, of := "TAGS", func(it feed.Item) ([]string, error) { return it.Tags, nil }
	if why {
		last, of = "WHY", reasons
	}
	t := newTable("nnttt", "#", "AGE", "ID", "TITLE", last)
	for i, it := range p.Items {
		words, err := of(it)
		if err != nil {
			return err
		}
		t.add(i+1, Age(now.Unix()-it.UpdateTime), it.ID, it.Title, strings.Join(words, ", "))
	}
	return t.write(w, width, footer(p))
}

// reasons returns the reasons of an item, such as "interest go" and "fresh".
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

// write writes the built text; building cannot fail.
func write(w io.Writer, b *strings.Builder) error {
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes v as indented JSON.
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

// lacking lists the parts that an answer lacks.
func lacking(degraded []string) string {
	if len(degraded) == 0 {
		return ""
	}
	return ", degraded=" + strings.Join(degraded, ",")
}

// Age formats seconds in the largest unit that fits: 45s, 12m, 5h, 3d, 2y.
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
