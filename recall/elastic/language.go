package elastic

import (
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/esindex"
)

// language finds the items in the languages of a profile; false: it reads all, or only the
// content tells. One without a language is in all. Of an index of somebody else's it names
// the values that stand in it; one that was new since they were read last is found after
// the next time.
func language(p *feed.Profile, s *esindex.Schema) (in clause, some bool) {
	langs := terms.ReadLangs(p.Langs)
	field, values := s.Fields.Lang, langs.Keys()
	switch {
	case langs.All():
		return in, false
	case s.Folds():
		field, values = esindex.LangKeys, append(slices.Clone(values), esindex.AnyLang)
	case s.Langs != "":
		values = slices.DeleteFunc(strings.Split(s.Langs, "\n"), func(lang string) bool { return !langs.Take(lang) })
	case s.Untold&esindex.ByLang != 0:
		values = append(codesOf(p.Langs), "und", "mul", "zxx")
	default:
		return in, false
	}
	should := append(anyOf(field, values, s), clause{Bool: &boolean{MustNot: []clause{{Exists: map[string]string{"field": field}}}}})
	return clause{Bool: &boolean{Should: should}}, true
}

// codesOf are the languages as they are written, and the codes that they may begin with, in
// order.
func codesOf(langs []string) []string {
	codes := slices.Clone(langs)
	for _, lang := range langs {
		codes = append(codes, terms.LangCodes(lang)...)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// anyOf finds what has one of the values in a field, in as many clauses as the index takes
// values in one.
func anyOf(field string, values []string, s *esindex.Schema) (all []clause) {
	for part := range slices.Chunk(values, s.MaxTerms()) {
		all = append(all, clause{Terms: map[string][]string{field: part}})
	}
	return all
}
