package engine

// NoteWith sets the recorder of the items that timelines show.
func (t *Timelines) NoteWith(s Showing) { t.showing = s }
