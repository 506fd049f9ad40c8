package elastic

import (
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

// featured returns a clause that matches the items with a learned feature. It returns false if
// the index has no field for its kind.
func featured(l *recall.Learned, s *esindex.Schema) (clause, bool) {
	term := func(field, folded string) (clause, bool) {
		if folded != "" && s.Folds() {
			return clause{Term: map[string]string{folded: l.Term}}, true
		}
		return clause{Term: map[string]string{field: l.Value}}, field != esindex.None
	}
	switch l.Kind {
	case feed.FeatureTag:
		return term(s.Fields.Tags, esindex.FoldedTags)
	case feed.FeatureAuthor:
		return term(s.Fields.AuthorID, "")
	case feed.FeatureLang:
		return term(s.Fields.Lang, esindex.LangKeys)
	case feed.FeatureWord:
		k := recall.Keyword{Term: l.Value, Tokens: l.Tokens}
		field := s.Fields.Title
		if s.Tokens {
			field = s.Fields.TitleTokens
		}
		return phrase(&k, field, s), true
	}
	return clause{}, false
}

// learnedGains returns clauses that add the gains of learned features to the relevance.
func learnedGains(learned []recall.Learned, s *esindex.Schema) []clause {
	var should []clause
	for i := range learned {
		l := &learned[i]
		if l.Score > 0 {
			if found, ok := featured(l, s); ok {
				should = append(should, clause{ConstantScore: &constantScore{Filter: found, Boost: l.Score}})
			}
		}
	}
	return should
}

// lowered multiplies a query's scores by the learned factors below 1 of the features that
// match. If none matches, the score is unchanged.
func lowered(c clause, learned []recall.Learned, s *esindex.Schema) clause {
	f := &functionScore{Query: c, ScoreMode: "multiply", BoostMode: "multiply"}
	for i := range learned {
		l := &learned[i]
		if l.Factor > 0 {
			if found, ok := featured(l, s); ok {
				f.Functions = append(f.Functions, function{Filter: &found, Weight: l.Factor})
			}
		}
	}
	if len(f.Functions) == 0 {
		return c
	}
	return clause{FunctionScore: f}
}
