package memory

// LookForUnusedTerms makes the next Upsert drop unused terms, even if there are few terms.
func (s *Source) LookForUnusedTerms() { s.vacuums = 0 }

// Terms returns the number of terms in the dictionaries.
func (s *Source) Terms() int {
	return s.dictionaries[tagDictionary].len() + s.dictionaries[wordDictionary].len()
}

// Segments returns the number of segments.
func (s *Source) Segments() int { return len(s.views) }
