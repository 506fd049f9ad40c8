// Package media makes the images of posts fit to be shown, and stores them.
//
// [Processor.Make] tells the type of an image by its content, refuses what is more than an image,
// decodes it, turns it upright and encodes it again, so that nothing is left of the file but its
// pixels: no location, no camera, no comments, nothing hidden behind the picture. It makes a
// thumbnail, too. [Files] keeps both in a [Store], under random keys.
package media

import (
	"errors"
	"image/jpeg"
	"image/png"

	"github.com/freshet/freshet/feed"
)

// Limits of one image.
const (
	MaxBytes  = 5 << 20    // of the file as it is sent
	MaxPixels = 50_000_000 // width times height
	// MaxStored is the largest file that an image may become.
	MaxStored = 4 * MaxBytes
	// ThumbSide is the longer side of a thumbnail, in pixels; smaller images keep their size.
	ThumbSide = 320
)

var (
	// errBusy says that there was no room to decode this image in time.
	errBusy = feed.Errorf(feed.ErrUnavailable, "the server is busy with images; try again in a moment")
	// ErrUnavailable says that the store could not be asked. It may help to ask again.
	ErrUnavailable = &feed.Outage{Text: "the store of images is unavailable", Shown: "images are unavailable; try again later"}
)

// unreadable is the error about a file that cannot be decoded: the decoder does not know its
// kind, or it is damaged.
func unreadable(kind string, err error) error {
	var jpegKind jpeg.UnsupportedError
	var pngKind png.UnsupportedError
	if errors.Is(err, errAnimated) || errors.As(err, &jpegKind) || errors.As(err, &pngKind) {
		return feed.Errorf(feed.ErrRule, "bad image: this kind of %s is not supported (%w); browsers may show it: save it as an ordinary JPEG or PNG", kind, err)
	}
	return feed.Errorf(feed.ErrRule, "bad image: it is truncated or damaged: %w", err)
}

// Image is an image that is fit to be shown.
type Image struct {
	Full, Thumb   File
	Width, Height int    // of Full, pixels
	Color         string // the average, as #rrggbb
	Digest        string // of the file as it was sent
}

// File is an encoded picture.
type File struct {
	Type string // its media type
	Data []byte
}
