// Package demo generates a plausible catalog, its readers and a stream of news, so that the feed
// can be tried without real data. Everything is derived from a seed.
package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
)

// span is the age range of the catalog.
const span = 14 * 24 * time.Hour

// subject is the subject of an item; the items of a group share one.
type subject struct {
	topic                   topic
	lang                    string
	who, what, other, place string
}

// Generate returns n items with ages relative to now, oldest first. The result is the same for the
// same arguments. Some items form groups that cover one story, and some stories appear again
// elsewhere without a common group.
func Generate(seed uint64, n int, now time.Time) []feed.Item {
	items := make([]feed.Item, 0, n)
	titles := make(map[string]bool, n)
	for i := 0; len(items) < n; i++ {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		s := newSubject(r)
		// The exponent puts most items near now, as in a real catalog.
		age := time.Duration(float64(span) * math.Pow(r.Float64(), 2.2))
		documents, group := 1, ""
		if r.IntN(50) == 0 {
			documents, group = 2+r.IntN(3), fmt.Sprintf("story/%d", i)
		}
		for range min(documents, n-len(items)) {
			it := newItem(r, s, titles)
			it.ID, it.GroupID = fmt.Sprintf("doc_%d", len(items)+1), group
			it.UpdateTime = now.Add(-age).Unix()
			items = append(items, it)
			age = earlier(r, age)
		}
		if r.IntN(30) == 0 && len(items) < n {
			it := again(r, items[len(items)-1])
			it.ID, it.UpdateTime = fmt.Sprintf("doc_%d", len(items)+1), now.Add(-age).Unix()
			items = append(items, it)
		}
	}
	slices.SortStableFunc(items, func(a, b feed.Item) int { return cmp.Compare(a.UpdateTime, b.UpdateTime) })
	return items
}

// earlier returns an age up to three hours less than the given one, for the next item of a story.
func earlier(r *rand.Rand, age time.Duration) time.Duration {
	return max(0, age-time.Duration(r.Int64N(int64(3*time.Hour))))
}

// Next returns the i-th item of the news of a seed, dated now, without likes and comments.
func Next(seed, i uint64, now time.Time) feed.Item {
	r := rand.New(rand.NewPCG(^seed, i))
	it := newItem(r, newSubject(r), map[string]bool{})
	it.ID, it.UpdateTime, it.Likes, it.Comments = fmt.Sprintf("news_%d", i), now.Unix(), 0, 0
	return it
}

func newSubject(r *rand.Rand) subject {
	t := pick(r, words.Topics)
	s := subject{topic: t, lang: "en", who: pick(r, t.Who), what: pick(r, t.What), place: pick(r, words.Places)}
	for s.other == "" || s.other == s.what {
		s.other = pick(r, t.What)
	}
	if r.IntN(7) > 0 {
		return s
	}
	s.lang = pick(r, []string{"de", "de", "de", "fr", "fr", "es", "es", "ja"})
	about := pick(r, words.Foreign[s.lang].Subjects)
	s.topic, s.what = words.Topics[topicOf(about.Tag)], about.Text
	return s
}

// newItem returns an item about the subject, with a title that is not in titles if one can be
// found, and adds the title to them.
func newItem(r *rand.Rand, s subject, titles map[string]bool) feed.Item {
	order := r.Perm(len(words.Summaries))
	templates, summary := words.Headlines[s.topic.Kind], fill(r, words.Summaries[order[0]], s)
	if f, ok := words.Foreign[s.lang]; ok {
		templates, summary = f.Templates, f.Summary
	} else if r.IntN(2) == 0 {
		summary += " " + fill(r, words.Summaries[order[1]], s)
	}
	var title string
	for try := 0; try < 20 && (title == "" || titles[title]); try++ {
		title = fill(r, pick(r, templates), s)
	}
	titles[title] = true

	tags := []string{s.topic.Tag}
	for _, tag := range s.topic.Also {
		if r.IntN(3) == 0 {
			tags = append(tags, tag)
		}
	}
	it := feed.Item{
		Title: title, Summary: summary, Lang: s.lang, Tags: tags, AuthorID: author(r, s.topic.Tag),
		ImageURL: fmt.Sprintf("https://example.com/images/%s-%d.jpg", s.topic.Tag, 1+r.IntN(12)),
		Business: map[string]json.RawMessage{"reading_minutes": fmt.Append(nil, 1+r.IntN(14))},
	}
	publish(r, &it, site(r, s, it.AuthorID))
	return it
}

// publish sets the link of an item on a site, which ends in its number there, and its likes and
// comments.
func publish(r *rand.Rand, it *feed.Item, site string) {
	it.URL = fmt.Sprintf("https://%s/%s/%s-%d", site, it.Tags[0], slug(it.Title), 100+r.IntN(900))
	// A log-normal number: most items get a few likes, some get thousands.
	it.Likes = int64(math.Min(20_000, math.Exp(2.2+1.5*r.NormFloat64())))
	it.Comments = int64(float64(it.Likes) * (0.02 + 0.4*r.Float64()))
}

// again returns the story of an item once more: the same link with tracking parameters, or a copy
// on another site under nearly the same title.
func again(r *rand.Rand, it feed.Item) feed.Item {
	it.GroupID = ""
	if r.IntN(3) == 0 {
		it.URL += "?utm_source=newsletter&utm_medium=email"
		return it
	}
	it.Title = fmt.Sprintf(pick(r, []string{"%s (updated)", "%s, in pictures", "Report: %s"}), it.Title)
	it.AuthorID = author(r, it.Tags[0])
	publish(r, &it, pick(r, words.Newspapers))
	return it
}

// topicOf returns the index of a tag's topic.
func topicOf(tag string) int {
	return slices.IndexFunc(words.Topics, func(t topic) bool { return t.Tag == tag })
}

// author returns one of the eight authors who write about the tag, the first ones more often.
func author(r *rand.Rand, tag string) string {
	at := topicOf(tag)*3 + int(8*math.Pow(r.Float64(), 2))
	return words.FirstNames[at%len(words.FirstNames)] + "." + words.LastNames[at%len(words.LastNames)]
}

// slug returns the title in a form for URLs.
func slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(c rune) bool {
		isLetter, isDigit := 'a' <= c && c <= 'z', '0' <= c && c <= '9'
		return !isLetter && !isDigit
	})
	return strings.Join(append(words, "story")[:max(1, len(words))], "-")
}

// Profiles returns the demo readers by agent id.
func Profiles() map[string]feed.Profile { return words.Profiles }

// newsSeed is the seed of Run's items.
const newsSeed = 1

// Run stores one new item at each interval until ctx ends. An item's number is the time in
// milliseconds, so that a restart does not reuse ids, which every reader would have seen. A failed
// put is logged, and Run goes on.
func Run(ctx context.Context, items catalog.Writer, every time.Duration, clock feed.Clock, log *slog.Logger) {
	for range periodic.Every(ctx, every) {
		now := clock()
		it := Next(newsSeed, uint64(now.UnixMilli()), now)
		errs, err := items.Put(ctx, []feed.Item{it})
		if err := errors.Join(append(errs, err)...); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "demo item was not stored", "id", it.ID, "error", err)
		}
	}
}
