package memory

// LookForUnusedTerms makes the next Upsert drop unused terms however few terms
// there are.
func (s *Source) LookForUnusedTerms() { s.vacuums = 0 }

// Terms returns the number of terms the dictionaries hold.
func (s *Source) Terms() int {
	return s.dictionaries[tagDictionary].len() + s.dictionaries[wordDictionary].len()
}

// Segments returns the number of segments.
func (s *Source) Segments() int { return len(s.views) }

// Len is the number of items that are alive.
func (s *Source) Len() (n int) {
	for i := range s.views {
		n += s.views[i].live()
	}
	return n
}
