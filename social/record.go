package social

import (
	"cmp"
	"slices"
	"strings"
)

// Record is a post with the stamps of the changes that made it, which may arrive in any order. A
// store reads it, changes it and writes it back in one transaction. The zero Record is an unknown
// post.
type Record struct {
	Post  Post
	Times Times
}

// Times holds the stamps of a post's changes; 0 means that there was none.
type Times struct {
	Created int64
	Deleted int64
	// Of the last edit of each field, 0 if it was not edited since the creation.
	Caption, Tags, Alts, Reply int64
	Counted                    int64 // of the counts another system reported
	// Here is the last of the above that was made here, not by an event. A deletion that arrives
	// later, and is not older than the creation, deletes it whatever its own time.
	Here int64
}

// Alive reports whether the post exists: it was created, and not deleted since.
func (r *Record) Alive() bool { return r.Times.Created > r.Times.Deleted }

// Latest returns the latest stamp of any change of the post itself.
func (r *Record) Latest() int64 {
	t := r.Times
	return max(t.Created, t.Deleted, t.Caption, t.Tags, t.Alts, t.Reply)
}

// Create applies a creation at a stamp and reports whether it changed anything. Edits that arrived
// before it stay unless they are older. The later of two creations replaces the other completely;
// at equal stamps the second is a repetition.
func (r *Record) Create(p Post, at int64) bool {
	t := &r.Times
	if at <= t.Created || at <= t.Deleted {
		return false
	}
	before := r.Post
	r.Post = p
	r.Post.Version, r.Post.Likes, r.Post.Comments = before.Version+1, before.Likes, before.Comments
	r.Post.Images = slices.Clone(p.Images)
	if keepEdit(&t.Caption, at) {
		r.Post.Caption = before.Caption
	}
	if keepEdit(&t.Tags, at) {
		r.Post.Tags = before.Tags
	}
	if keepEdit(&t.Alts, at) {
		setAlts(r.Post.Images, alts(before.Images))
	}
	if keepEdit(&t.Reply, at) {
		r.Post.Reply = r.Post.normal(before.Reply)
	}
	t.Created = at
	r.settle()
	return true
}

// keepEdit reports whether a creation keeps the value that an edit gave a field: the edit is not
// older. If it is older, its stamp is reset.
func keepEdit(edited *int64, at int64) bool {
	if *edited < at {
		*edited = 0
	}
	return *edited != 0
}

// Edit applies an edit at a stamp and reports whether it changed anything. Of two edits of a field
// at one stamp the greater value wins. The edit of a post that does not exist is stored until the
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
	if e.Reply != nil {
		right := *e.Reply
		if r.Alive() {
			right = r.Post.normal(right)
		}
		if r.newer(at, &t.Reply, cmp.Or(cmp.Compare(right.rank(), r.Post.Reply.rank()), cmp.Compare(right, r.Post.Reply))) {
			r.Post.Reply, changed = right, true
		}
	}
	if changed {
		r.Post.Version++
		r.settle()
	}
	return changed
}

// newer reports whether an edit supersedes the one of a field at *edited, and then sets *edited;
// order compares its value with the current one.
func (r *Record) newer(at int64, edited *int64, order int) bool {
	since := *edited
	if since == 0 {
		// An edit at the stamp of the creation comes after it.
		since, order = r.Times.Created, 1
	}
	if cmp.Or(cmp.Compare(at, since), order) <= 0 {
		return false
	}
	*edited = at
	return true
}

// Delete applies a deletion at a stamp and reports whether it changed anything. It clears all
// content and reported counts that are not newer.
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
	blank(&t.Reply, func() {})
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
	edited := max(t.Caption, t.Tags, t.Alts)
	if edited > t.Created && r.Alive() {
		r.Post.EditedAt = edited / 1e6
	}
}

// Count records the stamp of counts that another system reported, and reports whether they take
// effect: at equal stamps the greater do, and none from before a deletion.
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
