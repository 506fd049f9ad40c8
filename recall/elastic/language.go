package elastic

import (
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/esindex"
)

// language returns a clause that matches the items in the languages of a profile. It returns
// false if the profile reads all of them, or if only item content can decide. An item without a
// language matches every profile. For a foreign index the clause lists the values found in it;
// a new value is included after they are next read.
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

// langsOf returns the values of a foreign index that are texts in a language.
func langsOf(lang string, s *esindex.Schema) []string {
	langs := terms.ReadLangs([]string{lang})
	return slices.DeleteFunc(strings.Split(s.Langs, "\n"), func(value string) bool {
		return len(terms.LangKeys(value)) == 0 || !langs.Take(value)
	})
}

// codesOf returns the languages as written and the codes that they may begin with, sorted.
func codesOf(langs []string) []string {
	codes := slices.Clone(langs)
	for _, lang := range langs {
		codes = append(codes, terms.LangCodes(lang)...)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// anyOf returns clauses that match documents with one of the values in a field. Each clause has
// at most as many values as the index allows.
func anyOf(field string, values []string, s *esindex.Schema) (all []clause) {
	for part := range slices.Chunk(values, s.MaxTerms()) {
		all = append(all, clause{Terms: map[string][]string{field: part}})
	}
	return all
}
