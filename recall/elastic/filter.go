package elastic

import (
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

// nothing matches no document.
var nothing = clause{MatchNone: &struct{}{}}

// selected adds the clauses of a filter to those that documents must, and must not, match.
func selected(f *feed.Filter, s *esindex.Schema, must, not []clause) ([]clause, []clause) {
	if f == nil {
		return must, not
	}
	must = append(must, conditions(&f.All, s)...)
	if !f.Any.IsZero() {
		must = append(must, clause{Bool: &boolean{Should: conditions(&f.Any, s)}})
	}
	return must, append(not, conditions(&f.None, s)...)
}

// conditions returns a clause for each condition. One on a field that the index does not have matches
// nothing.
func conditions(of *feed.Conditions, s *esindex.Schema) (all []clause) {
	for _, tag := range of.Tags {
		is := recall.Interest{Tag: terms.Fold(tag), Spellings: spellings(tag)}
		all = append(all, interest(&is, s).Filter)
	}
	for _, lang := range of.Langs {
		all = append(all, inLanguage(lang, s))
	}
	for _, author := range of.Authors {
		all = append(all, named(s.Fields.AuthorID, author))
	}
	for _, site := range of.Sites {
		all = append(all, named(s.Traits.Site, site))
	}
	for _, word := range of.Words {
		all = append(all, inWords(word, s))
	}
	return all
}

func spellings(tag string) []string {
	folded := terms.Fold(tag)
	if folded != tag {
		return []string{folded, tag}
	}
	return []string{tag}
}

// named returns a clause that matches the documents with a value in a field.
func named(field, value string) clause {
	if field == "" || field == esindex.None {
		return nothing
	}
	return clause{Term: map[string]string{field: value}}
}

// inLanguage returns a clause that matches the documents in a language, and not those in none or
// several, which match the languages of every reader.
func inLanguage(lang string, s *esindex.Schema) clause {
	field, values := s.Fields.Lang, terms.ReadLangs([]string{lang}).Keys()
	switch {
	case s.Folds():
		field = esindex.LangKeys
	case s.Langs != "":
		values = langsOf(lang, s)
	default:
		values = codesOf([]string{lang})
	}
	if field == "" || field == esindex.None || len(values) == 0 {
		return nothing
	}
	return clause{Bool: &boolean{Should: anyOf(field, values, s)}}
}

// inWords returns a clause that matches the documents with the words in the title or the summary.
func inWords(word string, s *esindex.Schema) clause {
	apart, joined := words.OneLetterParts(words.Of(word))
	k := recall.Keyword{Term: word, Weight: 1, Tokens: apart, Joined: joined}
	both := feed.Ranking{KeywordsSummary: 1}
	either := &boolean{}
	for _, found := range inTexts(&k, &both, s) {
		either.Should = append(either.Should, found.query)
	}
	if len(either.Should) == 0 {
		return nothing
	}
	return clause{Bool: either}
}
