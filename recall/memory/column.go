package memory

// column holds one string per item in one allocation: a million small strings
// would each cost a header and a pointer for the collector to follow.
type column struct {
	text string
	ends []uint32 // where each string ends; it begins where the one before ends
}

func (c *column) at(i uint32) string {
	if i == 0 {
		return c.text[:c.ends[0]]
	}
	return c.text[c.ends[i-1]:c.ends[i]]
}

// columnWriter collects a column.
type columnWriter struct {
	text []byte
	ends []uint32
}

func (w *columnWriter) add(s string) {
	w.text = append(w.text, s...)
	w.ends = append(w.ends, uint32(len(w.text)))
}

func (w *columnWriter) column() column { return column{text: string(w.text), ends: w.ends} }
