package elastic

import (
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/esindex"
)

// pattern is a regular expression for whole values.
type pattern struct {
	Value           string `json:"value"`
	CaseInsensitive bool   `json:"case_insensitive"`
}

// language finds the items in the languages of a profile; false: it reads all. One without
// a language is in all. In an index of somebody else's it finds also what is in another
// script or for another region: the content tells.
func language(p *feed.Profile, s *esindex.Schema) (in clause, some bool) {
	langs := terms.ReadLangs(p.Langs)
	if langs.All() {
		return in, false
	}
	field := s.Fields.Lang
	var should []clause
	if s.Folds() {
		field = esindex.LangKeys
		should = append(should, clause{Terms: map[string][]string{field: append(slices.Clone(langs.Keys()), esindex.AnyLang)}})
	} else {
		should = append(should, clause{Terms: map[string][]string{field: append(sorted(p.Langs), "und", "mul", "zxx")}})
		if codes := codesOf(p.Langs); s.Patterns && len(codes) > 0 {
			value := "(" + strings.Join(codes, "|") + `)([-_.\@].*)?`
			should = append(should, clause{Regexp: map[string]pattern{field: {value, true}}})
		}
	}
	should = append(should, clause{Bool: &boolean{MustNot: []clause{{Exists: &exists{Field: field}}}}})
	return clause{Bool: &boolean{Should: should}}, true
}

// codesOf are the codes that the languages may begin with, in order: letters alone.
func codesOf(langs []string) (codes []string) {
	for _, lang := range langs {
		codes = append(codes, terms.LangCodes(lang)...)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
