package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"github.com/freshet/freshet/feed"
)

// kind is a type of image that can be taken.
type kind struct {
	name   string
	is     func(file []byte) bool
	walk   func(file []byte) (layout, error)
	header func(io.Reader) (image.Config, error)
	pixels func(io.Reader) (image.Image, error)
}

var kinds = []kind{
	{"JPEG", starts("\xff\xd8\xff"), walkJPEG, jpeg.DecodeConfig, jpeg.Decode},
	{"PNG", starts(pngHead), walkPNG, png.DecodeConfig, png.Decode},
	{"GIF", func(f []byte) bool { return starts("GIF87a")(f) || starts("GIF89a")(f) }, walkGIF, gif.DecodeConfig, gif.Decode},
	{"WebP", func(f []byte) bool { return starts("RIFF")(f) && len(f) >= 12 && string(f[8:12]) == "WEBP" }, walkWebP, webp.DecodeConfig, webp.Decode},
}

const pngHead = "\x89PNG\r\n\x1a\n"

func starts(head string) func([]byte) bool {
	return func(file []byte) bool { return bytes.HasPrefix(file, []byte(head)) }
}

// layout holds the facts about a file that its structure tells, without its pixels.
type layout struct {
	end  int    // where the image ends
	exif []byte // in the form of TIFF; nil: there is none
	// work is how many bytes the decoder needs for each pixel beside the picture.
	work int
}

var errEnds = errors.New("the file ends before the image does")

// kindOf tells the type of a file by its content, and refuses what is more than
// an image. Errors are [feed.ErrType] and [feed.ErrRule].
func kindOf(file []byte) (kind, layout, error) {
	for _, k := range kinds {
		if !k.is(file) {
			continue
		}
		at, err := k.walk(file)
		if err != nil {
			return k, at, damaged(err)
		}
		return k, at, pure(k, file, at.end)
	}
	return kind{}, layout{}, feed.Errorf(feed.ErrType, "not an image that can be taken: send JPEG, PNG, GIF or WebP")
}

// markup and archives make a file something else to a program that looks for them
// anywhere, not only at the beginning.
var (
	markup   = []string{"<!doctype", "<html", "<script", "<svg ", "<svg>", "<svg\n", "<svg\t", "<svg/", "<?php", "%pdf-"}
	archives = []string{"PK\x03\x04", "PK\x05\x06", "Rar!\x1a\x07", "7z\xbc\xaf\x27\x1c"}
)

// sniffed is how far programs look for what a file is.
const sniffed = 1024

// pure refuses a file that is something else beside the image. Cameras write
// further pictures and films behind a JPEG; nothing else may stand there.
func pure(k kind, file []byte, end int) error {
	tail := bytes.TrimLeft(file[end:], "\x00")
	known := len(tail) == 0
	if k.name == "JPEG" && !known {
		known = bytes.HasPrefix(tail, []byte{0xff, 0xd8}) || bytes.Contains(tail[:min(len(tail), 64)], []byte("ftyp")) || bytes.HasSuffix(tail, []byte("SEFT"))
	}
	if !known || has(bytes.ToLower(file[:min(len(file), sniffed)]), markup) || has(bytes.ToLower(tail), markup) || has(tail, archives) {
		return feed.Errorf(feed.ErrType, "not an image that can be taken: the %s has something else in it, too", k.name)
	}
	return nil
}

func has(data []byte, signs []string) bool {
	for _, s := range signs {
		if bytes.Contains(data, []byte(s)) {
			return true
		}
	}
	return false
}

// walkJPEG goes over the segments, and over the scans between them.
func walkJPEG(b []byte) (layout, error) {
	var at layout
	for pos := 2; ; {
		for pos < len(b) && b[pos] != 0xff { // the bytes of a scan
			pos++
		}
		for pos < len(b) && b[pos] == 0xff {
			pos++
		}
		if pos >= len(b) {
			return at, errEnds
		}
		marker := b[pos]
		pos++
		switch {
		case marker == 0xd9:
			at.end = pos
			return at, nil
		case marker == 0, marker == 1, 0xd0 <= marker && marker <= 0xd7: // none, or without a segment
			continue
		case len(b) < pos+2:
			return at, errEnds
		}
		size := int(binary.BigEndian.Uint16(b[pos:]))
		if size < 2 || len(b) < pos+size {
			return at, errEnds
		}
		segment := b[pos+2 : pos+size]
		if exif, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00")); ok && marker == 0xe1 && at.exif == nil {
			at.exif = exif
		}
		if marker == 0xc2 && len(segment) > 5 {
			at.work = 4 * int(segment[5]) // a progressive one is gathered in coefficients of 4 bytes, one for each component
		}
		pos += size
	}
}

func walkPNG(b []byte) (layout, error) {
	var at layout
	for pos := len(pngHead); ; {
		if len(b) < pos+12 {
			return at, errEnds
		}
		size := int64(binary.BigEndian.Uint32(b[pos:]))
		next := int64(pos) + 12 + size
		if next > int64(len(b)) {
			return at, errEnds
		}
		data := b[pos+8 : pos+8+int(size)]
		switch string(b[pos+4 : pos+8]) {
		case "eXIf":
			at.exif = data
		case "IHDR":
			if len(data) == 13 && data[12] != 0 {
				at.work = 8 // interlaced: each pass is a picture
			}
		case "IEND":
			at.end = int(next)
			return at, nil
		}
		pos = int(next)
	}
}

func walkGIF(b []byte) (layout, error) {
	if len(b) < 13 {
		return layout{}, errEnds
	}
	pos := 13 + colors(b[10])
	for {
		if pos >= len(b) {
			return layout{}, errEnds
		}
		switch b[pos] {
		case 0x3b:
			return layout{end: pos + 1, work: 1}, nil // the frame, beside the canvas
		case 0x21:
			pos += 2
		case 0x2c:
			if len(b) < pos+11 {
				return layout{}, errEnds
			}
			pos += 11 + colors(b[pos+9])
		default:
			return layout{}, errors.New("an unknown block")
		}
		for { // data, in blocks of up to 255 bytes
			if pos >= len(b) {
				return layout{}, errEnds
			}
			size := int(b[pos])
			pos += 1 + size
			if size == 0 {
				break
			}
		}
	}
}

// colors is the length of the table of colors that the flags of a GIF announce.
func colors(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

func walkWebP(b []byte) (layout, error) {
	end := int64(binary.LittleEndian.Uint32(b[4:])) + 8
	if end > int64(len(b)) {
		return layout{}, errEnds
	}
	at := layout{end: int(end), work: 8}
	for pos := int64(12); pos+8 <= end; {
		size := int64(binary.LittleEndian.Uint32(b[pos+4:]))
		if pos+8+size > end {
			return at, errEnds
		}
		data := b[pos+8 : pos+8+size]
		switch string(b[pos : pos+4]) {
		case "EXIF":
			at.exif = bytes.TrimPrefix(data, []byte("Exif\x00\x00"))
		case "ANIM":
			return at, errors.New("an animated WebP cannot be taken")
		}
		pos += 8 + size + size&1
	}
	return at, nil
}
