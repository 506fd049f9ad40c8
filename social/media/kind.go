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

// kind is a supported type of image.
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

// layout holds facts about a file that are read from its structure, without decoding pixels.
type layout struct {
	end  int    // the offset where the image ends
	exif []byte // in TIFF format; nil if the file has none
	// work is the number of bytes per pixel that the decoder needs in addition to the picture.
	work int
	// fit is the file with the parts corrected that the decoder rejects but browsers accept. Nil
	// means that none need it.
	fit []byte
}

var (
	errEnds     = errors.New("the file ends before the image does")
	errAnimated = errors.New("it is animated")
)

// kindOf detects the type of a file by its content, and refuses a file that contains more than
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
		return k, at, checkPure(k, file, at.end)
	}
	return kind{}, layout{}, feed.Errorf(feed.ErrType, "unsupported image: send JPEG, PNG, GIF or WebP")
}

// walkJPEG walks over the segments and the scans between them.
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
		case marker == 0, marker == 1, 0xd0 <= marker && marker <= 0xd7: // no marker, or one without a segment
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
			at.work = 4 * int(segment[5]) // progressive: the decoder buffers a 4-byte coefficient per pixel and component
		}
		pos += size
	}
}

// walkPNG also finds chunks with wrong checksums: the decoder checks all chunks, browsers only
// those that they use.
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
			at.work = 8 // interlaced: each pass is decoded to a separate picture
		case name == "eXIf":
			at.exif = data
		case name == "IEND":
			at.end = next
			if !intact {
				at.fit = essential(b)
			}
			return at, nil
		}
		intact = intact && (needed(name) || sound(b[pos:next]))
		pos = next
	}
}

// pngChunkAt returns the name of a chunk and the offset of the next one, which is beyond the end of
// b if the chunk is incomplete.
func pngChunkAt(b []byte, pos int) (name string, next int) {
	if len(b) < pos+12 {
		return "", len(b) + 1
	}
	size := int64(binary.BigEndian.Uint32(b[pos:]))
	return string(b[pos+4 : pos+8]), int(min(int64(pos)+12+size, int64(len(b))+1))
}

// needed reports whether the chunk is required to decode the picture.
func needed(name string) bool {
	switch name {
	case "IHDR", "PLTE", "IDAT", "IEND":
		return true
	}
	return false
}

// sound reports whether the checksum of a chunk is correct.
func sound(chunk []byte) bool {
	return crc32.ChecksumIEEE(chunk[4:len(chunk)-4]) == binary.BigEndian.Uint32(chunk[len(chunk)-4:])
}

// essential returns a PNG, which walkPNG has checked, without the chunks that do not affect pixels.
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

// walkGIF accepts a file that ends, or continues with other data, after a complete frame: only the
// first frame is used. If that is larger than the screen, the screen grows, as in browsers.
func walkGIF(b []byte) (layout, error) {
	if len(b) < 13 {
		return layout{}, errEnds
	}
	at := layout{work: 1} // the frame, in addition to the canvas
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
			frames++
			if frames == 1 {
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

// grown returns a copy of a GIF with the screen enlarged to contain a frame, or nil if it does.
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

// colors returns the length in bytes of the color table that the flags of a GIF announce.
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
