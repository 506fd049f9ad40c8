package engine

// NoteWith has what timelines show noted.
func (t *Timelines) NoteWith(s Showing) { t.showing = s }
