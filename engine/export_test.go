package engine

// ShowThrough sets the recorder of the items that timelines show.
func (t *Timelines) ShowThrough(s Showing) { t.showing = s }
