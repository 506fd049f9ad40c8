package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/freshet/freshet/client"
)

// next describes how to request the next page; it is "" if there is none.
func next[T any](flag string, value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprintf("next: --%s %s\n", flag, printable(fmt.Sprint(*value)))
}

// WriteItems writes a page of items as a table, one row per item.
func WriteItems(w io.Writer, p client.ItemPage, now time.Time, width int) error {
	after := next("cursor", p.NextCursor)
	if len(p.Items) == 0 {
		after = "no items\n" + after
	}
	t := newTable("nnnittt", "AGE", "LIKES", "COMMENTS", "ID", "AUTHOR", "TAGS", "TITLE")
	for _, it := range p.Items {
		t.add(overdue(now.Sub(time.Unix(it.UpdateTime, 0))), it.Likes, it.Comments, it.ID, it.AuthorID, strings.Join(it.Tags, ","), it.Title)
	}
	return t.write(w, width, after)
}

// WriteJobs writes a page of jobs, and the size of the queue.
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
		after += "; the oldest has been waiting for " + Age(int64(p.Queue.Oldest))
	}
	t := newTable("nnwwwtt", "TRIES", "AGE", "ID", "KIND", "STATE", "KEY", "ERROR")
	for _, j := range p.Jobs {
		t.add(j.Attempts, overdue(now.Sub(j.Due)), j.ID, j.Kind, j.State, j.Key, j.Error)
	}
	return t.write(w, width, after+"\n"+next("after", p.NextAfter))
}

// overdue formats how long a job is overdue, or when it is due.
func overdue(age time.Duration) string {
	if age < 0 {
		return "in " + Age(int64(-age.Seconds()))
	}
	return Age(int64(age.Seconds()))
}

// WriteGuestPage writes the feed for readers without an account as a table, with each item's trend,
// and a summary line.
func WriteGuestPage(w io.Writer, p client.GuestPage, now time.Time, width int) error {
	t := newTable("nnwitt", "#", "AGE", "TREND", "ID", "TITLE", "TAGS")
	for i, it := range p.Items {
		in, err := client.InFeedOf(it)
		trend := ""
		switch {
		case err != nil:
			return err
		case in != nil && in.IsPromoted:
			trend = "promoted"
		case in != nil:
			trend = in.Trend
		}
		t.add(i+1, Age(now.Unix()-it.UpdateTime), trend, it.ID, it.Title, strings.Join(it.Tags, ", "))
	}
	return t.write(w, width, fmt.Sprintf("items=%d%s\n", len(p.Items), lacking(p.Degraded)))
}

// WritePromotions writes a page of promotions.
func WritePromotions(w io.Writer, p client.PromotionPage, width int) error {
	if len(p.Promotions) == 0 {
		_, err := io.WriteString(w, "there are no promotions\n")
		return err
	}
	t := newTable("nwwittt", "WEIGHT", "FROM (UTC)", "UNTIL (UTC)", "ID", "ITEM", "FOR", "STATE")
	for _, one := range p.Promotions {
		state := "runs"
		if !one.Runs {
			state = one.Why
		}
		t.add(one.Weight, formatMinute(one.From), formatMinute(one.Until), one.ID, one.ItemID, target(one), state)
	}
	return t.write(w, width, next("after", p.NextAfter))
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

func formatMinute(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04") }

// WriteTimeline writes a page of a timeline as a table and a summary line.
func WriteTimeline(w io.Writer, p client.PostPage, now time.Time, width int) error {
	after := fmt.Sprintf("posts=%d, has_more=%t%s\n", len(p.Items), p.HasMore, lacking(p.Degraded))
	if p.HasMore {
		after += next("cursor", &p.NextCursor)
	}
	t := newTable("nntwit", "AGE", "LIKES", "AUTHOR", "WHY", "ID", "CAPTION")
	for _, post := range p.Items {
		why := ""
		if post.InFeed != nil {
			why = post.InFeed.Reason
		}
		caption, _, _ := strings.Cut(post.Caption, "\n")
		t.add(Age(now.Unix()-post.CreatedAt), post.Likes, post.Author.ID, why, post.ID, caption)
	}
	return t.write(w, width, after)
}
