package cli

import (
	"fmt"
	"io"
	"strconv"
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
	table(&b, rows, width)
	if len(p.Jobs) > 0 {
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
	table(&b, rows, width)
	fmt.Fprintf(&b, "items=%d", len(p.Items))
	b.WriteString(lacking(p.Degraded))
	b.WriteByte('\n')
	return write(w, &b)
}

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
	table(&b, rows, width)
	fmt.Fprintf(&b, "posts=%d, has_more=%t", len(p.Items), p.HasMore)
	b.WriteString(lacking(p.Degraded))
	b.WriteString("\n")
	if p.HasMore {
		b.WriteString("next: --cursor " + printable(p.NextCursor) + "\n")
	}
	return write(w, &b)
}
