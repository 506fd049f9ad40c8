package cli

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
)

// list writes a table with a row for each entry, nothing where there are none, and what
// follows it. Rows are trimmed to width columns; 0 leaves them whole. So it is for all that
// takes a width.
func list[T any](w io.Writer, width int, header []string, entries []T, row func(i int, entry T) []string, after string) error {
	rows := [][]string{header}
	for i, entry := range entries {
		cells := row(i, entry)
		for j, cell := range cells {
			cells[j] = printable(cell)
		}
		rows = append(rows, cells)
	}
	var b strings.Builder
	table(&b, rows, width)
	b.WriteString(after)
	return write(w, &b)
}

// next says how the next page is asked for; nil: there is none.
func next[T any](flag string, value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprintf("next: --%s %s\n", flag, printable(fmt.Sprint(*value)))
}

// WriteItems writes a page of items, a row each.
func WriteItems(w io.Writer, p client.ItemPage, now time.Time, width int) error {
	after := next("cursor", p.NextCursor)
	if len(p.Items) == 0 {
		after = "no items\n" + after
	}
	return list(w, width, []string{"AGE", "LIKES", "COMMENTS", "ID", "AUTHOR", "TAGS", "TITLE"}, p.Items, func(_ int, it feed.Item) []string {
		return []string{
			waits(now.Sub(time.Unix(it.UpdateTime, 0))), fmt.Sprint(it.Likes), fmt.Sprint(it.Comments),
			it.ID, it.AuthorID, strings.Join(it.Tags, ","), it.Title,
		}
	}, after)
}

// WriteJobs writes a page of jobs, and how many there are.
func WriteJobs(w io.Writer, p client.JobPage, now time.Time, width int) error {
	counts := make([]string, len(p.Queue.Rows))
	for i, r := range p.Queue.Rows {
		counts[i] = fmt.Sprintf("%s %s=%d", r.Kind, r.State, r.Count)
	}
	after := cmp.Or(strings.Join(counts, ", "), "the queue is empty")
	if len(p.Jobs) > 0 {
		after = "\n" + after
	}
	if p.Queue.Oldest > 0 {
		after += "; the oldest has waited for " + Age(int64(p.Queue.Oldest))
	}
	return list(w, width, []string{"TRIES", "AGE", "ID", "KIND", "STATE", "KEY", "ERROR"}, p.Jobs, func(_ int, j client.Job) []string {
		return []string{fmt.Sprint(j.Attempts), waits(now.Sub(j.Due)), fmt.Sprint(j.ID), j.Kind, j.State, j.Key, j.Error}
	}, after+"\n"+next("after", p.NextAfter))
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
	trends := make([]string, len(p.Items))
	for i, it := range p.Items {
		in, err := client.InFeedOf(it)
		switch {
		case err != nil:
			return err
		case in != nil && in.IsPromoted:
			trends[i] = "promoted"
		case in != nil:
			trends[i] = in.Trend
		}
	}
	return list(w, width, []string{"#", "AGE", "TREND", "ID", "TITLE", "TAGS"}, p.Items, func(i int, it feed.Item) []string {
		return []string{strconv.Itoa(i + 1), Age(now.Unix() - it.UpdateTime), trends[i], it.ID, it.Title, strings.Join(it.Tags, ", ")}
	}, fmt.Sprintf("items=%d%s\n", len(p.Items), lacking(p.Degraded)))
}

// WritePromotions writes a page of promotions.
func WritePromotions(w io.Writer, p client.PromotionPage, width int) error {
	if len(p.Promotions) == 0 {
		_, err := io.WriteString(w, "there are no promotions\n")
		return err
	}
	return list(w, width, []string{"WEIGHT", "FROM (UTC)", "UNTIL (UTC)", "ID", "ITEM", "FOR", "STATE"}, p.Promotions, func(_ int, one client.Promotion) []string {
		state := "runs"
		if !one.Runs {
			state = one.Why
		}
		return []string{fmt.Sprint(one.Weight), minute(one.From), minute(one.Until), one.ID, one.ItemID, target(one), state}
	}, next("after", p.NextAfter))
}

func target(p client.Promotion) string {
	var parts []string
	if len(p.Tags) > 0 {
		parts = append(parts, "tags "+strings.Join(p.Tags, ", "))
	}
	if len(p.Langs) > 0 {
		parts = append(parts, "langs "+strings.Join(p.Langs, ", "))
	}
	return cmp.Or(strings.Join(parts, "; "), "everybody")
}

func minute(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04") }

// WriteTimeline writes a page of a timeline as a table and a line about it.
func WriteTimeline(w io.Writer, p client.PostPage, now time.Time, width int) error {
	after := fmt.Sprintf("posts=%d, has_more=%t%s\n", len(p.Items), p.HasMore, lacking(p.Degraded))
	if p.HasMore {
		after += next("cursor", &p.NextCursor)
	}
	return list(w, width, []string{"AGE", "LIKES", "AUTHOR", "WHY", "ID", "CAPTION"}, p.Items, func(_ int, post client.Post) []string {
		why := ""
		if post.InFeed != nil {
			why = post.InFeed.Reason
		}
		caption, _, _ := strings.Cut(post.Caption, "\n")
		return []string{Age(now.Unix() - post.CreatedAt), fmt.Sprint(post.Likes), post.Author.ID, why, post.ID, caption}
	}, after)
}
