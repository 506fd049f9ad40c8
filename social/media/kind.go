package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"

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
	// fit is the file without what the decoder stumbles over and browsers do not; nil: it
	// is fit as it stands.
	fit []byte
}

var (
	errEnds     = errors.New("the file ends before the image does")
	errAnimated = errors.New("it is animated")
)

// kindOf tells the type of a file by its content, and refuses what is more than
// an image. Errors are [feed.ErrType] and [feed.ErrRule].
func kindOf(file []byte) (kind, layout, error) {
	for _, k := range kinds {
		if !k.is(file) {
			continue
		}
		at, err := k.walk(file)
		if err != nil {
			return k, at, unreadable(k.name, err)
		}
		return k, at, pure(k, file, at.end)
	}
	return kind{}, layout{}, feed.Errorf(feed.ErrType, "not an image that can be taken: send JPEG, PNG, GIF or WebP")
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

// walkPNG also finds chunks whose sums are wrong: decoders check all of them, browsers those
// that they use.
func walkPNG(b []byte) (layout, error) {
	var at layout
	intact := true
	for pos := len(pngHead); ; {
		name, next := pngChunkAt(b, pos)
		if next > len(b) {
			return at, errEnds
		}
		data := b[pos+8 : next-4]
		switch {
		case name == "IHDR" && len(data) == 13 && data[12] != 0:
			at.work = 8 // interlaced: each pass is a picture
		case name == "eXIf":
			at.exif = data
		case name == "IEND":
			if at.end = next; !intact {
				at.fit = essential(b)
			}
			return at, nil
		}
		intact = intact && (needed(name) || sound(b[pos:next]))
		pos = next
	}
}

// pngChunkAt returns the name of a chunk and where the next one begins; beyond the end where
// it is not there whole.
func pngChunkAt(b []byte, pos int) (name string, next int) {
	if len(b) < pos+12 {
		return "", len(b) + 1
	}
	size := int64(binary.BigEndian.Uint32(b[pos:]))
	return string(b[pos+4 : pos+8]), int(min(int64(pos)+12+size, int64(len(b))+1))
}

// needed reports whether there is no picture without the chunk.
func needed(name string) bool {
	return name == "IHDR" || name == "PLTE" || name == "IDAT" || name == "IEND"
}

// sound reports whether the sum of a chunk is right.
func sound(chunk []byte) bool {
	return crc32.ChecksumIEEE(chunk[4:len(chunk)-4]) == binary.BigEndian.Uint32(chunk[len(chunk)-4:])
}

// essential is a PNG that was walked, without the chunks that make no pixels.
func essential(b []byte) []byte {
	out := []byte(pngHead)
	for pos := len(pngHead); ; {
		name, next := pngChunkAt(b, pos)
		if needed(name) || name == "tRNS" && sound(b[pos:next]) {
			out = append(out, b[pos:next]...)
		}
		if name == "IEND" {
			return out
		}
		pos = next
	}
}

// walkGIF lets a file end, or go on with something else, behind a whole frame: the first one
// is all that is shown. Where that is larger than the screen, the screen grows, as in browsers.
func walkGIF(b []byte) (layout, error) {
	if len(b) < 13 {
		return layout{}, errEnds
	}
	at := layout{work: 1} // the frame, beside the canvas
	pos := 13 + colors(b[10])
	for frames := 0; ; {
		switch {
		case pos >= len(b) && frames > 0:
			at.end = len(b)
			return at, nil
		case pos >= len(b):
			return at, errEnds
		}
		switch b[pos] {
		case 0x3b:
			at.end = pos + 1
			return at, nil
		case 0x21:
			pos += 2
		case 0x2c:
			if len(b) < pos+11 {
				return at, errEnds
			}
			if frames++; frames == 1 {
				at.fit = grown(b, b[pos+1:])
			}
			pos += 11 + colors(b[pos+9])
		default:
			if frames == 0 {
				return at, errors.New("an unknown block")
			}
			at.end = pos
			return at, nil
		}
		for { // data, in blocks of up to 255 bytes
			if pos >= len(b) {
				return at, errEnds
			}
			size := int(b[pos])
			pos += 1 + size
			if size == 0 {
				break
			}
		}
	}
}

// grown is a GIF whose screen has room for a frame; nil where it has.
func grown(b, frame []byte) []byte {
	var fit []byte
	for i := range 2 { // width, height
		edge := int(binary.LittleEndian.Uint16(frame[2*i:])) + int(binary.LittleEndian.Uint16(frame[4+2*i:]))
		if edge <= int(binary.LittleEndian.Uint16(b[6+2*i:])) || edge > math.MaxUint16 {
			continue
		}
		if fit == nil {
			fit = append(fit, b...)
		}
		binary.LittleEndian.PutUint16(fit[6+2*i:], uint16(edge))
	}
	return fit
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
			return at, errAnimated
		}
		pos += 8 + size + size&1
	}
	return at, nil
}
