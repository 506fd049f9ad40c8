package rss

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/mmcdole/gofeed"
	ext "github.com/mmcdole/gofeed/extensions"
	"golang.org/x/text/language"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
)

const (
	maxTags    = 32   // of an entry
	maxSummary = 1000 // characters
	maxTitle   = 500  // characters
	// clockSlack is how far in the future a date may be because clocks differ.
	clockSlack = 10 * time.Minute
)

// entry is an entry of a feed as an item.
type entry struct {
	item feed.Item
	hash uint64 // of the item, without a date of ours
	// undated entries have no date or one in the future; they are dated when they are first read.
	undated bool
}

// converted are the entries of a feed.
type converted struct {
	entries  []entry // each id once, the first of the feed
	rejected int
	why      string // why the first one was rejected
}

// convert converts a feed. Links that are relative begin at the feed's own, else at base.
func convert(from *gofeed.Feed, base *url.URL, now time.Time) converted {
	var out converted
	if u, err := url.Parse(from.Link); err == nil && u.IsAbs() {
		base = u
	}
	known := map[string]bool{}
	for _, it := range from.Items {
		e, err := convertEntry(from, it, base, now)
		switch {
		case err != nil:
			out.rejected++
			out.why = cmp.Or(out.why, err.Error())
		case !known[e.item.ID]:
			known[e.item.ID] = true
			out.entries = append(out.entries, e)
		}
	}
	return out
}

func convertEntry(from *gofeed.Feed, it *gofeed.Item, base *url.URL, now time.Time) (entry, error) {
	link := webLink(base, cmp.Or(it.Link, it.GUID))
	summary := plain(cmp.Or(it.Description, it.Content))
	item := feed.Item{
		ID:       itemID(from, it, base),
		Title:    shorten(cmp.Or(title(it.Title), shorten(summary, 100)), maxTitle),
		Summary:  shorten(summary, maxSummary),
		URL:      link,
		ImageURL: webLink(base, image(it)),
		AuthorID: author(it),
		Lang:     lang(cmp.Or(dublinLang(it), from.Language)),
		Tags:     tags(it.Categories),
	}
	if feed.Blank(item.Title) {
		return entry{}, errors.New("an entry has neither a title nor a text")
	}
	source := title(from.Title)
	if source != "" {
		text, err := json.Marshal(shorten(source, maxTitle))
		if err != nil {
			return entry{}, err
		}
		item.Business = map[string]json.RawMessage{"source": text}
	}
	at, dated := date(it, now)
	if dated {
		item.UpdateTime = at.Unix()
	}
	text, err := json.Marshal(item)
	if err != nil {
		return entry{}, err
	}
	item.UpdateTime = at.Unix()
	valid, err := json.Marshal(item)
	if err == nil {
		item, err = feed.ParseItem(valid)
	}
	return entry{item: item, hash: xxhash.Sum64(text), undated: !dated}, err
}

// date returns when the entry was published, so that an edit does not make it new again. An entry
// without a usable date is dated now.
func date(it *gofeed.Item, now time.Time) (at time.Time, dated bool) {
	for _, t := range []*time.Time{it.PublishedParsed, it.UpdatedParsed} {
		if t != nil && t.Unix() > 0 && !t.After(now.Add(clockSlack)) {
			return *t, true
		}
	}
	return now, false
}

// itemID returns the entry's own id if it is a URI, which is unique (RFC 4287, 4.2.6), else a hash of
// what identifies the entry within its feed.
func itemID(from *gofeed.Feed, it *gofeed.Item, base *url.URL) string {
	own := strings.TrimSpace(it.GUID)
	scheme, _, isURI := strings.Cut(own, ":")
	isURI = isURI && len(scheme) > 1 && !feed.IsPost(own)
	if isURI && feed.CheckItemID(own) == nil {
		return own
	}
	link := webLink(base, it.Link)
	if own == "" && link != "" && feed.CheckItemID(link) == nil {
		return link
	}
	of := cmp.Or(from.FeedLink, from.Link)
	if base != nil {
		of = base.Host
	}
	sum := sha256.Sum256([]byte(of + "\n" + cmp.Or(own, link, it.Title+"\n"+it.Published)))
	return "rss:" + hex.EncodeToString(sum[:16])
}

func author(it *gofeed.Item) string {
	for _, p := range it.Authors {
		if p == nil {
			continue
		}
		name := plain(cmp.Or(p.Name, p.Email))
		if name != "" && len([]rune(name)) <= feed.MaxTermLength {
			return name
		}
	}
	return ""
}

func dublinLang(it *gofeed.Item) string {
	if it.DublinCoreExt != nil && len(it.DublinCoreExt.Language) > 0 {
		return it.DublinCoreExt.Language[0]
	}
	return ""
}

// lang returns a language as BCP 47 writes it, "" for what is none.
func lang(text string) string {
	tag, err := language.Parse(strings.TrimSpace(text))
	if err != nil || tag == language.Und {
		return ""
	}
	return tag.String()
}

// tags returns the categories, each once. Some feeds have links among them.
func tags(categories []string) []string {
	var list []string
	known := map[string]bool{}
	for _, c := range categories {
		c = plain(c)
		folded := terms.Fold(c)
		isTag := !feed.Blank(c) && !strings.Contains(c, "://") && len([]rune(c)) <= feed.MaxTermLength
		if isTag && !known[folded] && len(list) < maxTags {
			known[folded] = true
			list = append(list, c)
		}
	}
	return list
}

// image returns the address of the entry's picture: its own, that of an enclosure or of Media RSS, or the
// first one in its text.
func image(it *gofeed.Item) string {
	// The parser falls back to the first picture of the text, even if it has one pixel.
	if it.Image != nil && !strings.Contains(it.Content+it.Description, it.Image.URL) {
		return it.Image.URL
	}
	for _, e := range it.Enclosures {
		if e != nil && strings.HasPrefix(e.Type, "image/") {
			return e.URL
		}
	}
	media := it.Extensions["media"]
	for _, group := range append([]ext.Extension{{Children: media}}, media["group"]...) {
		for _, x := range slices.Concat(group.Children["content"], group.Children["thumbnail"]) {
			isImage := x.Name == "thumbnail" || x.Attrs["medium"] == "image" || strings.HasPrefix(x.Attrs["type"], "image/")
			if isImage && x.Attrs["url"] != "" {
				return x.Attrs["url"]
			}
		}
	}
	return cmp.Or(firstImage(it.Content), firstImage(it.Description))
}

// webLink returns the absolute http or https URL of a link, "" if it is none that an item may have.
func webLink(base *url.URL, link string) string {
	link = strings.TrimSpace(link)
	if link == "" {
		return ""
	}
	if base != nil {
		link = resolve(base, link)
	}
	u, err := url.Parse(link)
	isWeb := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	if !isWeb || feed.CheckURL(link) != nil {
		return ""
	}
	return link
}

func resolve(base *url.URL, link string) string {
	u, err := base.Parse(link)
	if err != nil {
		return link
	}
	return u.String()
}
