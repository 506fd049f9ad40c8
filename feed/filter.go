package feed

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
)

// Filter selects the items of a named feed: those that meet each condition of All, at least one of
// Any, if it has some, and none of None.
type Filter struct {
	All  Conditions `json:"all,omitzero"`
	Any  Conditions `json:"any,omitzero"`
	None Conditions `json:"none,omitzero"`
}

// Conditions is a list of conditions on an item: its tag, its language, its author, the site of its
// link (a host without www.), or words that are next to each other in its title or summary. Tags,
// languages and words are compared as those of a profile. An item without a language meets no
// condition on languages.
type Conditions struct {
	Tags    []string `json:"tags,omitempty"`
	Langs   []string `json:"langs,omitempty"`
	Authors []string `json:"authors,omitempty"`
	Sites   []string `json:"sites,omitempty"`
	Words   []string `json:"words,omitempty"`
}

// maxConditions is the maximum number of conditions of a filter.
const maxConditions = 100

// Len returns the number of conditions.
func (c *Conditions) Len() int {
	return len(c.Tags) + len(c.Langs) + len(c.Authors) + len(c.Sites) + len(c.Words)
}

// IsZero reports whether there are no conditions.
func (c Conditions) IsZero() bool { return c.Len() == 0 }

// Lists returns the conditions of each kind, in a fixed order.
func (c *Conditions) Lists() [5][]string {
	return [5][]string{c.Tags, c.Langs, c.Authors, c.Sites, c.Words}
}

// Validate checks the conditions. The error wraps [ErrInvalid].
func (f *Filter) Validate() error {
	total := f.All.Len() + f.Any.Len() + f.None.Len()
	if total == 0 {
		return Errorf(ErrInvalid, "bad feed: it has no conditions; name tags, langs, authors, sites or words under all, any or none")
	}
	if total > maxConditions {
		return Errorf(ErrInvalid, "bad feed: it has %d conditions, at most %d are allowed", total, maxConditions)
	}
	for name, c := range map[string]*Conditions{"all": &f.All, "any": &f.Any, "none": &f.None} {
		if err := c.validate(name); err != nil {
			return err
		}
	}
	return nil
}

func (c *Conditions) validate(of string) error {
	usable := [5]struct {
		what string
		ok   func(string) bool
	}{
		{"tag", func(s string) bool { return strings.TrimSpace(s) != "" }},
		{"language", func(s string) bool { return terms.LangKey(s) != "" }},
		{"author", func(s string) bool { return s != "" }},
		{"site", func(s string) bool { return s == Site("https://"+s) }},
		{"word", func(s string) bool { return len(words.Of(s)) > 0 }},
	}
	for i, list := range c.Lists() {
		for _, term := range list {
			if len(term) > MaxItemID || !utf8.ValidString(term) || strings.ContainsFunc(term, unicode.IsControl) || !usable[i].ok(term) {
				return Errorf(ErrInvalid, "bad feed: %.80q, of %s, is no %s that items can have", term, of, usable[i].what)
			}
		}
	}
	return nil
}

// Detached copies the filter, for callers that keep it longer than the call. Nil stays nil.
func (f *Filter) Detached() *Filter {
	if f == nil {
		return nil
	}
	own := *f
	for _, c := range []*Conditions{&own.All, &own.Any, &own.None} {
		for _, list := range []*[]string{&c.Tags, &c.Langs, &c.Authors, &c.Sites, &c.Words} {
			*list = slices.Clone(*list)
		}
	}
	return &own
}
