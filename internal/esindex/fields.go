package esindex

import (
	"cmp"
	"fmt"
	"strings"
)

// The fields that our own index has in addition to those of an item. Freshet sets them when an item
// is put, and the sums also when readers click and like; they are never returned to readers. An
// index that others manage has those that its mapping defines.
const (
	DefaultPopularity = "freshet_popularity" // likes + 2·comments
	// The tokens of package words, separated by spaces, for matching keywords.
	DefaultTitleTokens   = "freshet_title"
	DefaultSummaryTokens = "freshet_summary"
	// The fields that pages are varied by: the site of the link, the first tag and the sketch of
	// the title.
	DefaultSite = "freshet_site"
	FirstTag    = "freshet_tag"
	Story       = "freshet_story"
	// The tags and the language in the form that is compared: the folded tags, and the keys that
	// readers' languages match, [AnyLang] if all match.
	FoldedTags = "freshet_tag_keys"
	LangKeys   = "freshet_lang_keys"
	AnyLang    = "*"
	// The sums of [feed.Counts], each with the number of its epoch.
	DefaultSum2h   = "freshet_sum_2h"
	DefaultEpoch2h = "freshet_epoch_2h"
	DefaultSum2d   = "freshet_sum_2d"
	DefaultEpoch2d = "freshet_epoch_2d"
	// The time of the latest act, in Unix seconds, and the counts at it.
	DefaultLastAct = "freshet_last_act"
	DefaultCount2h = "freshet_count_2h"
	DefaultCount2d = "freshet_count_2d"
)

// MetaID as the name of the id field means that the document's _id is the item's id.
const MetaID = "_id"

// None as the name of a field means that the index has no such field. Items must have an id, a
// title and an update time.
const None = "-"

// Fields maps every logical field to its name in the index. The zero value means the names of our
// own index.
type Fields struct {
	ID         string // a keyword field, or [MetaID]
	GroupID    string
	Title      string
	Summary    string
	URL        string
	ImageURL   string
	AuthorID   string
	Lang       string
	Tags       string
	UpdateTime string
	Likes      string
	Comments   string
	// Fields that Freshet defines, which have the same names in every index by default.
	Popularity string // likes + 2·comments when an item is put; never returned
	// The tokens of title and summary, in fields split at spaces.
	TitleTokens   string
	SummaryTokens string
	Site          string // of the link
	// Live popularity: all four, or none.
	Sum2h, Epoch2h, Sum2d, Epoch2d string
	// The latest act: all three, or none.
	LastAct, Count2h, Count2d string
}

// WithDefaults sets every unnamed field to its name in our own index.
func (f Fields) WithDefaults() Fields {
	for _, r := range f.refs() {
		*r.name = cmp.Or(*r.name, r.logical)
	}
	return f
}

// Validate rejects names that Elasticsearch cannot use, and two fields with the same name.
func (f Fields) Validate() error {
	f = f.WithDefaults()
	taken := map[string]string{}
	for _, r := range f.refs() {
		name := *r.name
		isMetaID := name == MetaID && r.logical == "id"
		isLeftOut := name == None && !r.needed()
		if isMetaID || isLeftOut {
			continue
		}
		isReserved := name == None || strings.HasPrefix(name, "_")
		if isReserved || strings.ContainsAny(name, "*^ ,\"") || strings.Trim(name, ".") != name {
			return fmt.Errorf("elasticsearch.fields.%s: %q is not the name of a field", r.logical, name)
		}
		other, clash := taken[name]
		if clash {
			return fmt.Errorf("elasticsearch.fields: %s and %s are both mapped to %q", other, r.logical, name)
		}
		taken[name] = r.logical
	}
	return nil
}

type fieldRef struct {
	logical string // the default name
	name    *string
}

func (r fieldRef) needed() bool {
	return r.logical == "id" || r.logical == "title" || r.logical == "update_time"
}

// refs lists the fields in the order of an item's JSON, derived fields last.
func (f *Fields) refs() []fieldRef {
	return []fieldRef{
		{"id", &f.ID},
		{"group_id", &f.GroupID},
		{"title", &f.Title},
		{"update_time", &f.UpdateTime},
		{"summary", &f.Summary},
		{"url", &f.URL},
		{"image_url", &f.ImageURL},
		{"author_id", &f.AuthorID},
		{"lang", &f.Lang},
		{"tags", &f.Tags},
		{"likes", &f.Likes},
		{"comments", &f.Comments},
		{DefaultPopularity, &f.Popularity},
		{DefaultTitleTokens, &f.TitleTokens},
		{DefaultSummaryTokens, &f.SummaryTokens},
		{DefaultSite, &f.Site},
		{DefaultSum2h, &f.Sum2h},
		{DefaultEpoch2h, &f.Epoch2h},
		{DefaultSum2d, &f.Sum2d},
		{DefaultEpoch2d, &f.Epoch2d},
		{DefaultLastAct, &f.LastAct},
		{DefaultCount2h, &f.Count2h},
		{DefaultCount2d, &f.Count2d},
	}
}
