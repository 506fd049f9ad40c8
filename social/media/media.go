// Package media prepares the images of posts for display and stores them.
//
// [Processor.Make] detects the type of an image by its content, refuses files that contain more
// than an image, decodes it, turns it upright and encodes it again. Only the pixels of the file
// remain: no location, camera, comments or data hidden behind the picture. It also makes a
// thumbnail. [Files] stores both in a [Store], under random keys.
package media

import (
	"errors"
	"image/jpeg"
	"image/png"

	"github.com/freshet/freshet/feed"
)

// Limits of one image.
const (
	MaxBytes  = 5 << 20    // of the uploaded file
	MaxPixels = 50_000_000 // width times height
	// MaxStored is the maximum size of an encoded image, in bytes.
	MaxStored = 4 * MaxBytes
	// ThumbSide is the longer side of a thumbnail, in pixels; smaller images keep their size.
	ThumbSide = 320
)

var (
	// errBusy says that no memory or worker became free in time to decode an image.
	errBusy = feed.Errorf(feed.ErrUnavailable, "the server is busy with images; try again in a moment")
	// ErrUnavailable says that the store is unavailable. A retry may succeed.
	ErrUnavailable = &feed.Outage{Text: "the image store is unavailable", Shown: "images are unavailable; try again later"}
)

// unreadable returns the error for a file that cannot be decoded: the decoder does not support
// this variant of its type, or the file is damaged.
func unreadable(kind string, err error) error {
	var jpegKind jpeg.UnsupportedError
	var pngKind png.UnsupportedError
	if errors.Is(err, errAnimated) || errors.As(err, &jpegKind) || errors.As(err, &pngKind) {
		return feed.Errorf(feed.ErrRule, "bad image: this kind of %s is not supported (%w); browsers may show it: save it as an ordinary JPEG or PNG", kind, err)
	}
	return feed.Errorf(feed.ErrRule, "bad image: it is truncated or damaged: %w", err)
}

// Image is a processed image.
type Image struct {
	Full, Thumb   File
	Width, Height int    // of Full, pixels
	Color         string // the average, as #rrggbb
	Digest        string // SHA-256 of the uploaded file, in hex
}

// File is an encoded picture.
type File struct {
	Type string // its media type
	Data []byte
}
