package social

import (
	"cmp"
	"slices"
	"strings"
)

// Record is a post with the stamps of the changes that made it, which may arrive in any order. A
// store reads it, changes it and writes it back in one transaction. The zero Record is a post
// that is not known.
type Record struct {
	Post  Post
	Times Times
}

// Times are the stamps of a post's changes; 0 says that there was none.
type Times struct {
	Created int64
	Deleted int64
	// Of the last edit of each field, 0 while it is as it was created.
	Caption, Tags, Alts int64
	Counted             int64 // of the counts another system reported
	// Here is the last of the above that was made here and not told by an event: whatever time
	// a deletion has that is told later, it deletes this, too.
	Here int64
}

// Alive reports whether the post exists: it was created, and not deleted since.
func (r *Record) Alive() bool { return r.Times.Created > r.Times.Deleted }

// Latest is the latest stamp of any change of the post itself.
func (r *Record) Latest() int64 {
	t := r.Times
	return max(t.Created, t.Deleted, t.Caption, t.Tags, t.Alts)
}

// Create takes a creation at a stamp and reports whether it changed anything.
// Edits that came before it hold where they are not older. Of two creations
// the later holds whole; two at one time are one that came twice.
func (r *Record) Create(p Post, at int64) bool {
	t := &r.Times
	if at <= t.Created || at <= t.Deleted {
		return false
	}
	before := r.Post
	r.Post = p
	r.Post.Version, r.Post.Likes, r.Post.Comments = before.Version+1, before.Likes, before.Comments
	r.Post.Images = slices.Clone(p.Images)
	keep(&t.Caption, at, func() { r.Post.Caption = before.Caption })
	keep(&t.Tags, at, func() { r.Post.Tags = before.Tags })
	keep(&t.Alts, at, func() { setAlts(r.Post.Images, alts(before.Images)) })
	t.Created = at
	r.settle()
	return true
}

// keep leaves a field as an edit made it, unless the edit is older.
func keep(edited *int64, at int64, restore func()) {
	if *edited >= at && *edited != 0 {
		restore()
		return
	}
	*edited = 0
}

// Edit takes an edit at a stamp and reports whether it changed anything. Of two edits of a field
// at one time the greater value holds. Of a post that is not there it keeps the edit until the
// post is created.
func (r *Record) Edit(e Edit, at int64) bool {
	t := &r.Times
	if at <= t.Deleted {
		return false
	}
	changed := false
	if e.Caption != nil && r.newer(at, &t.Caption, strings.Compare(*e.Caption, r.Post.Caption)) {
		r.Post.Caption, changed = *e.Caption, true
	}
	if e.Tags != nil && r.newer(at, &t.Tags, slices.Compare(*e.Tags, r.Post.Tags)) {
		r.Post.Tags, changed = *e.Tags, true
	}
	if e.Alts != nil && r.newer(at, &t.Alts, slices.Compare(*e.Alts, alts(r.Post.Images))) {
		if !r.Alive() {
			r.Post.Images = make([]Image, len(*e.Alts))
		}
		r.Post.Images = slices.Clone(r.Post.Images)
		setAlts(r.Post.Images, *e.Alts)
		changed = true
	}
	if changed {
		r.Post.Version++
		r.settle()
	}
	return changed
}

// newer reports whether an edit holds for a field that was last edited at
// *edited, and notes it; order compares its value with the present one.
func (r *Record) newer(at int64, edited *int64, order int) bool {
	since := *edited
	if since == 0 {
		// At the time of its creation an edit comes after it.
		since, order = r.Times.Created, 1
	}
	if cmp.Or(cmp.Compare(at, since), order) <= 0 {
		return false
	}
	*edited = at
	return true
}

// Delete takes a deletion at a stamp and reports whether it changed anything.
// It blanks all content that is not newer, at once, and counts that are not newer.
func (r *Record) Delete(at int64) bool {
	t := &r.Times
	if at <= t.Deleted {
		return false
	}
	t.Deleted = at
	created, upTo := t.Created > at, at
	if !created {
		upTo, t.Here = max(at, t.Here), 0
	}
	blank := func(edited *int64, empty func()) {
		if *edited <= upTo && !(created && *edited == 0) {
			*edited = 0
			empty()
		}
	}
	p := &r.Post
	blank(&t.Caption, func() { p.Caption = "" })
	blank(&t.Tags, func() { p.Tags = nil })
	blank(&t.Alts, func() { p.Images = nil })
	if t.Counted <= upTo {
		t.Counted = 0
	}
	if !created {
		p.Grants, p.URL, p.ObjectType = nil, "", ""
		p.Version++
	}
	r.settle()
	return true
}

// settle derives the record's fields from its stamps.
func (r *Record) settle() {
	t := r.Times
	r.Post.Deleted = !r.Alive()
	r.Post.EditedAt = 0
	if edited := max(t.Caption, t.Tags, t.Alts); edited > t.Created && r.Alive() {
		r.Post.EditedAt = edited / 1e6
	}
}

// Count takes counts another system reported, at a stamp, and reports whether they
// hold: of counts reported for one time the greater do, and none of before a deletion.
func (r *Record) Count(kept, reported Counts, at int64) bool {
	if at <= r.Times.Deleted {
		return false
	}
	order := cmp.Or(cmp.Compare(reported.Likes, kept.Likes), cmp.Compare(reported.Comments, kept.Comments))
	if cmp.Or(cmp.Compare(at, r.Times.Counted), order) <= 0 {
		return false
	}
	r.Times.Counted = at
	return true
}

func alts(images []Image) []string {
	out := make([]string, len(images))
	for i, m := range images {
		out[i] = m.Alt
	}
	return out
}

func setAlts(images []Image, alts []string) {
	for i := range min(len(images), len(alts)) {
		images[i].Alt = alts[i]
	}
}
