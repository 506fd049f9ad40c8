package doctor

import "fmt"

// room is the size of a disk, and the free part of it. The numbers of inodes are 0 on disks that make them as
// they need them, and all are 0 where they are not known.
type room struct {
	bytes, freeBytes   uint64
	inodes, freeInodes uint64
}

// Less than a scarceShare of a disk, and of these figures, is little room.
const (
	scarceShare  = 20 // one in so many
	scarceBytes  = 1 << 30
	scarceInodes = 50_000 // an image takes four files
)

// scarce says what a disk has little of, "" if nothing.
func (r room) scarce() string {
	switch {
	case r.freeInodes < min(scarceInodes, r.inodes/scarceShare):
		return fmt.Sprintf("%d of %d inodes are free", r.freeInodes, r.inodes)
	case r.freeBytes < min(scarceBytes, r.bytes/scarceShare):
		return fmt.Sprintf("%d of %d MiB are free", r.freeBytes>>20, r.bytes>>20)
	}
	return ""
}

// reportWritable reports that a directory can be written to, and whether its disk is nearly full.
func (d *doctor) reportWritable(what, dir, says string) {
	has, err := roomAt(dir)
	little := has.scarce()
	if err != nil || little == "" {
		d.report(OK, what, "", "%s", says)
		return
	}
	d.report(Warning, what, moreSpace, "%s, but its disk is nearly full: %s", says, little)
}
