package media

import (
	"encoding/binary"
	"image"
	"image/draw"
)

// orientationTag is the only Exif tag that is read: the orientation of the camera, 1 to 8 as
// defined by TIFF 6.0.
const orientationTag = 0x0112

// orientation reads the tag from the first directory. It returns 1, upright, if there is no valid
// tag.
func orientation(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(tiff[:4]) {
	case "II*\x00":
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	first := int64(order.Uint32(tiff[4:]))
	if first+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[first+2:]
	for range order.Uint16(tiff[first:]) {
		if len(entries) < 12 {
			return 1
		}
		const short = 3
		if order.Uint16(entries) == orientationTag && order.Uint16(entries[2:]) == short {
			o := int(order.Uint16(entries[8:]))
			if 1 <= o && o <= 8 {
				return o
			}
			return 1
		}
		entries = entries[12:]
	}
	return 1
}

// plain returns the picture with 4 bytes per pixel and its origin at (0, 0).
func plain(src image.Image) *image.NRGBA {
	b := src.Bounds()
	if p, ok := src.(*image.NRGBA); ok && b.Min == (image.Point{}) {
		return p
	}
	dst := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(dst, dst.Bounds(), src, b.Min, draw.Src)
	return dst
}

// turns maps an orientation, minus 2, to the source of an upright picture's pixels: whether x and y
// are swapped, and whether each is counted from the other end.
var turns = [...]struct{ swap, x, y bool }{
	{x: true},
	{x: true, y: true},
	{y: true},
	{swap: true},
	{swap: true, y: true},
	{swap: true, x: true, y: true},
	{swap: true, x: true},
}

// upright returns a picture of orientation o turned upright.
func upright(src image.Image, o int) image.Image {
	if o <= 1 || o > 8 {
		return src
	}
	from, turn := plain(src), turns[o-2]
	w, h := from.Rect.Dx(), from.Rect.Dy()
	size := image.Rect(0, 0, w, h)
	if turn.swap {
		size = image.Rect(0, 0, h, w)
	}
	to := image.NewNRGBA(size)
	for y := range size.Dy() {
		for x := range size.Dx() {
			sx, sy := x, y
			if turn.swap {
				sx, sy = y, x
			}
			if turn.x {
				sx = w - 1 - sx
			}
			if turn.y {
				sy = h - 1 - sy
			}
			copy(to.Pix[y*to.Stride+4*x:][:4], from.Pix[sy*from.Stride+4*sx:][:4])
		}
	}
	return to
}
