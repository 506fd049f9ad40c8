package media

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

var (
	red  = color.NRGBA{220, 20, 20, 255}
	blue = color.NRGBA{20, 20, 220, 255}
)

// halves is a picture with a red left half and a blue right half.
func halves(w, h int) *image.NRGBA {
	p := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			p.SetNRGBA(x, y, red)
			if x >= w/2 {
				p.SetNRGBA(x, y, blue)
			}
		}
	}
	return p
}

func asPNG(t testing.TB, p image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, p))
	return b.Bytes()
}

func asJPEG(t testing.TB, p image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, p, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

func asGIF(t testing.TB, frames ...*image.Paletted) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, gif.EncodeAll(&b, &gif.GIF{Image: frames, Delay: make([]int, len(frames)), Config: image.Config{Width: 8, Height: 6}}))
	return b.Bytes()
}

func frame(r image.Rectangle, c color.Color) *image.Paletted {
	p := image.NewPaletted(r, color.Palette{color.Black, c})
	for i := range p.Pix {
		p.Pix[i] = 1
	}
	return p
}

// webpFile is a lossless WebP of 2 × 1 pixels, written by hand: five trees of one code each give
// every pixel the color (200, 100, 50).
func webpFile(t testing.TB) []byte {
	t.Helper()
	var w bits
	w.put(0x2f, 8)                                          // signature
	w.put(2-1, 14)                                          // width
	w.put(0, 14)                                            // height
	w.put(0, 1)                                             // no alpha
	w.put(0, 3)                                             // version
	w.put(0, 1)                                             // no transform
	w.put(0, 1)                                             // no color cache
	w.put(0, 1)                                             // one group of trees
	for _, symbol := range []uint32{100, 200, 50, 255, 0} { // green, red, blue, alpha, distance
		w.put(1, 1) // simple
		w.put(0, 1) // of one symbol
		w.put(1, 1) // of 8 bits
		w.put(symbol, 8)
	}
	data := w.bytes
	return riff(chunk("VP8L", data))
}

// bits writes the least significant bit first.
type bits struct {
	bytes []byte
	n     int
}

func (w *bits) put(value uint32, n int) {
	for i := range n {
		if w.n%8 == 0 {
			w.bytes = append(w.bytes, 0)
		}
		w.bytes[w.n/8] |= byte(value>>i&1) << (w.n % 8)
		w.n++
	}
}

func chunk(name string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data)))
	b = append(b, data...)
	return append(b, make([]byte, len(data)&1)...)
}

func riff(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// exif is an Exif directory with an orientation and a location.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	b := []byte("II*\x00")
	if order == binary.BigEndian {
		b = []byte("MM\x00*")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 2)
	for _, entry := range [][2]uint16{{0x010f, 7}, {orientationTag, orientation}} {
		b = order.AppendUint16(b, entry[0])
		b = order.AppendUint16(b, 3)
		b = order.AppendUint32(b, 1)
		b = order.AppendUint16(b, entry[1])
		b = order.AppendUint16(b, 0)
	}
	return append(b, "\x00\x00\x00\x00GPS 47.3769 N 8.5417 E, Camera 3000"...)
}

// withSegment inserts a segment after the start of a JPEG.
func withSegment(jpeg []byte, marker byte, data []byte) []byte {
	segment := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2))
	return bytes.Join([][]byte{jpeg[:2], segment, data, jpeg[2:]}, nil)
}

// withChunk inserts a chunk after the header of a PNG.
func withChunk(file []byte, name string, data []byte) []byte {
	const header = 8 + 25
	c := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	c = append(append(c, name...), data...)
	c = binary.BigEndian.AppendUint32(c, crc32.ChecksumIEEE(c[4:]))
	return bytes.Join([][]byte{file[:header], c, file[header:]}, nil)
}

func processor() *Processor { return NewProcessor(Config{Workers: 2}) }

func decoded(t testing.TB, f File) image.Image {
	t.Helper()
	p, _, err := image.Decode(bytes.NewReader(f.Data))
	require.NoError(t, err)
	return p
}

// near compares colors with a tolerance, because JPEG changes them slightly.
func near(t testing.TB, want color.NRGBA, got color.Color, what string) {
	t.Helper()
	g := color.NRGBAModel.Convert(got).(color.NRGBA)
	for _, pair := range [][2]uint8{{want.R, g.R}, {want.G, g.G}, {want.B, g.B}} {
		assert.InDelta(t, pair[0], pair[1], 24, "%s: want %v, got %v", what, want, g)
	}
}

func TestTypeByContent(t *testing.T) {
	t.Parallel()
	transparent := image.NewNRGBA(image.Rect(0, 0, 3, 3))
	for name, c := range map[string]struct {
		file []byte
		kind string
		w, h int
	}{
		"JPEG":             {asJPEG(t, halves(64, 32)), "image/jpeg", 64, 32},
		"PNG":              {asPNG(t, halves(5, 7)), "image/png", 5, 7},
		"transparent PNG":  {asPNG(t, transparent), "image/png", 3, 3},
		"16 bits":          {asPNG(t, image.NewNRGBA64(image.Rect(0, 0, 4, 4))), "image/png", 4, 4},
		"GIF":              {asGIF(t, frame(image.Rect(0, 0, 8, 6), red)), "image/png", 8, 6},
		"GIF, first frame": {asGIF(t, frame(image.Rect(2, 1, 5, 4), red), frame(image.Rect(0, 0, 8, 6), blue)), "image/png", 8, 6},
		"WebP":             {webpFile(t), "image/jpeg", 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := processor().Make(t.Context(), c.file)
			require.NoError(t, err)
			assert.Equal(t, []any{c.kind, c.w, c.h}, []any{m.Full.Type, m.Width, m.Height})
			assert.Equal(t, image.Pt(c.w, c.h), decoded(t, m.Full).Bounds().Size())
			assert.Regexp(t, "^#[0-9a-f]{6}$", m.Color)
			assert.Len(t, m.Digest, 64)
			_, err = processor().Make(t.Context(), m.Full.Data)
			require.NoError(t, err, "the stored image is itself a valid upload")
		})
	}
	m, err := processor().Make(t.Context(), asGIF(t, frame(image.Rect(2, 1, 5, 4), red), frame(image.Rect(0, 0, 8, 6), blue)))
	require.NoError(t, err)
	near(t, red, decoded(t, m.Full).At(3, 2), "the first frame")
	_, _, _, alpha := decoded(t, m.Full).At(7, 5).RGBA()
	assert.Zero(t, alpha, "transparent outside of the frame")
	m, err = processor().Make(t.Context(), webpFile(t))
	require.NoError(t, err)
	near(t, color.NRGBA{200, 100, 50, 255}, decoded(t, m.Full).At(1, 0), "WebP")
}

func TestThumbnailAndColor(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, c := range []struct{ w, h, tw, th int }{
		{640, 480, 320, 240}, {480, 640, 240, 320}, {320, 320, 320, 320}, {100, 50, 100, 50}, {3000, 1, 320, 1}, {4000, 3000, 320, 240},
	} {
		m, err := processor().Make(t.Context(), asPNG(t, halves(c.w, c.h)))
		require.NoError(t, err)
		thumb := decoded(t, m.Thumb)
		assert.Equal(t, image.Pt(c.tw, c.th), thumb.Bounds().Size(), "%d × %d", c.w, c.h)
		near(t, red, thumb.At(c.tw/8, c.th/2), "left")
		near(t, blue, thumb.At(c.tw*7/8, c.th/2), "right")
		var r, g, b uint8
		_, err = fmt.Sscanf(m.Color, "#%02x%02x%02x", &r, &g, &b)
		require.NoError(t, err)
		near(t, color.NRGBA{120, 20, 120, 255}, color.NRGBA{r, g, b, 255}, "average")
	}
	m, err := processor().Make(t.Context(), asPNG(t, image.NewNRGBA(image.Rect(0, 0, 9, 9))))
	require.NoError(t, err)
	assert.Equal(t, "#ffffff", m.Color, "a fully transparent image")
}

// Each orientation is applied: the picture as the camera meant it has red on its left or top, and
// blue on the other side.
func TestOrientationAppliedMetadataRemoved(t *testing.T) {
	t.Parallel()
	const w, h = 48, 16
	type place struct{ x, y int }
	for o, want := range map[uint16]struct {
		w, h int
		red  place
	}{
		0: {w, h, place{4, 8}}, 1: {w, h, place{4, 8}}, 2: {w, h, place{44, 8}}, 3: {w, h, place{44, 8}}, 4: {w, h, place{4, 8}},
		5: {h, w, place{8, 4}}, 6: {h, w, place{8, 4}}, 7: {h, w, place{8, 44}}, 8: {h, w, place{8, 44}}, 9: {w, h, place{4, 8}},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			plain := asJPEG(t, halves(w, h))
			for name, file := range map[string][]byte{
				"JPEG": withSegment(withSegment(plain, 0xfe, []byte("a comment, Camera 3000")), 0xe1, append([]byte("Exif\x00\x00"), exif(order, o)...)),
				"PNG":  withChunk(withChunk(asPNG(t, halves(w, h)), "tEXt", []byte("Make\x00Camera 3000")), "eXIf", exif(order, o)),
			} {
				m, err := processor().Make(t.Context(), file)
				require.NoError(t, err, name)
				p := decoded(t, m.Full)
				assert.Equal(t, []int{want.w, want.h}, []int{m.Width, m.Height}, "%s, orientation %d", name, o)
				near(t, red, p.At(want.red.x, want.red.y), fmt.Sprintf("%s, orientation %d: red", name, o))
				near(t, blue, p.At(want.w-1-want.red.x, want.h-1-want.red.y), fmt.Sprintf("%s, orientation %d: blue", name, o))
				for _, f := range []File{m.Full, m.Thumb} {
					for _, trace := range []string{"GPS", "Camera", "Exif", "eXIf", "comment", "tEXt"} {
						assert.NotContains(t, string(f.Data), trace, name)
					}
				}
			}
		}
	}
}

// A WebP has its camera data in chunks separate from the picture.
func TestWebPOrientationAppliedMetadataRemoved(t *testing.T) {
	t.Parallel()
	picture := webpFile(t)[len("RIFF....WEBP"):]
	extended := chunk("VP8X", []byte{0x04 | 0x08, 0, 0, 0, 2 - 1, 0, 0, 0, 0, 0}) // XMP and EXIF, 2 × 1
	for _, prefix := range []string{"", "Exif\x00\x00"} {
		m, err := processor().Make(t.Context(), riff(extended, picture,
			chunk("EXIF", append([]byte(prefix), exif(binary.BigEndian, 6)...)), chunk("XMP ", []byte("<x:xmpmeta>Camera 3000</x:xmpmeta>"))))
		require.NoError(t, err)
		assert.Equal(t, []int{1, 2}, []int{m.Width, m.Height})
		near(t, color.NRGBA{200, 100, 50, 255}, decoded(t, m.Full).At(0, 1), "WebP")
		for _, f := range []File{m.Full, m.Thumb} {
			for _, trace := range []string{"GPS", "Camera", "Exif", "xmp"} {
				assert.NotContains(t, string(f.Data), trace)
			}
		}
	}
}

// Each orientation moves the pixels of a picture of six colors as it defines.
func TestOrientationTurnsAndMirrors(t *testing.T) {
	t.Parallel()
	p := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	for i := range 6 {
		p.Pix[4*i], p.Pix[4*i+3] = uint8(i+1), 255
	}
	// Pixels 1 2 3 over 4 5 6, row by row, as TIFF 6.0 defines each orientation.
	for o, want := range map[int][][]uint8{
		1: {{1, 2, 3}, {4, 5, 6}}, 2: {{3, 2, 1}, {6, 5, 4}}, 3: {{6, 5, 4}, {3, 2, 1}}, 4: {{4, 5, 6}, {1, 2, 3}},
		5: {{1, 4}, {2, 5}, {3, 6}}, 6: {{4, 1}, {5, 2}, {6, 3}}, 7: {{6, 3}, {5, 2}, {4, 1}}, 8: {{3, 6}, {2, 5}, {1, 4}},
	} {
		got := upright(p, o)
		require.Equal(t, image.Pt(len(want[0]), len(want)), got.Bounds().Size(), o)
		for y, row := range want {
			for x, v := range row {
				assert.Equal(t, v, got.(*image.NRGBA).NRGBAAt(x, y).R, "orientation %d at %d, %d", o, x, y)
			}
		}
	}
}

func TestNonImagesRefused(t *testing.T) {
	t.Parallel()
	jpg, pic := asJPEG(t, halves(32, 32)), asPNG(t, halves(8, 8))
	anim := asGIF(t, frame(image.Rect(0, 0, 8, 6), red))
	with := func(file []byte, tail string) []byte { return append(bytes.Clone(file), tail...) }
	zip := "PK\x03\x04 a whole archive PK\x05\x06"
	for name, file := range map[string][]byte{
		"nothing":                      {},
		"text":                         []byte("hello"),
		"SVG":                          []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
		"SVG with a declaration":       []byte(`<?xml version="1.0"?><svg/>`),
		"HTML":                         []byte("<!doctype html>"),
		"PDF":                          []byte("%PDF-1.7"),
		"BMP":                          []byte("BM\x3a\x00\x00\x00"),
		"HEIC":                         []byte("\x00\x00\x00\x18ftypheic"),
		"JPEG and an archive":          with(jpg, zip),
		"JPEG and HTML":                with(jpg, "<html><script>alert(1)</script>"),
		"JPEG and a film with archive": with(jpg, "\x00\x00\x00\x18ftypmp42 and so on"+zip),
		"PNG and PHP":                  with(pic, "\n<?php system('id');"),
		"PNG and a script":             with(pic, "<SCRIPT>alert(1)</SCRIPT>"),
		"PNG and a zip that goes on":   with(pic, "\nPK\x03\x04"),
		"PNG and RAR":                  with(pic, "Rar!\x1a\x07\x00"),
		"JPEG and 7z":                  with(jpg, "\n7z\xbc\xaf\x27\x1c\x00\x04"),
		"JPEG and a JPEG with archive": with(with(jpg, string(jpg)), zip),
		"JPEG with HTML in a comment":  withSegment(jpg, 0xfe, []byte("--><HTML><body>")),
		"JPEG with PDF in a comment":   withSegment(jpg, 0xfe, []byte("%PDF-1.4\n1 0 obj")),
		"PNG and an archive":           with(pic, zip),
		"PNG with SVG in a text":       withChunk(pic, "tEXt", []byte("a\x00<svg onload=alert(1)>")),
		"GIF and a script":             with(anim, "=1;alert(1)"),
		"WebP and PHP":                 with(webpFile(t), "<?php system('id');"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := processor().Make(t.Context(), file)
			require.ErrorIs(t, err, feed.ErrType)
		})
	}
	for name, file := range map[string][]byte{
		"a further picture": with(jpg, string(jpg)), "a film": with(jpg, "\x00\x00\x00\x18ftypmp42 and so on"), "zeros": with(pic, "\x00\x00\x00"),
		"a film with the beginning of a zip": with(jpg, "\x00\x00\x00\x18ftypmp42\x80\x01PK\x03\x04\x9f\xfe"),
		"a film with four letters":           with(jpg, "\x00\x00\x00\x18ftypmp42\x80\x01<svg \x9f\xfe\x00<HTML\x01\x02%PDF-\xff\xee"),
		"a newline behind a JPEG":            with(jpg, "\n"), "a newline behind a PNG": with(pic, "\r\n"),
		"a few bytes behind a JPEG": with(jpg, "\x17\x00\x2a\x80"), "a few bytes behind a PNG": with(pic, "\x01\x02"),
		"text behind a JPEG": with(jpg, "anything"), "a block of a phone": with(jpg, "\x00\x00\x01\x0a\x0e\x00\x00\x00Image_UTC_Data1700000000000SEFHk\x00\x00\x00SEFT"),
		"another phone's": with(jpg, "QDIOBS\x00\x00vivo{\"a\":1}"), "a PNG behind a PNG": with(pic, string(pic)),
		"a newline behind a GIF": with(anim, "\n"), "zeros behind a WebP": with(webpFile(t), "\x00\x00"),
	} {
		_, err := processor().Make(t.Context(), file)
		require.NoError(t, err, "cameras, phones and editors write it: %s", name)
	}
}

// TestMalformedImagesBrowsersShow checks files that violate their format and that browsers still
// show.
func TestMalformedImagesBrowsersShow(t *testing.T) {
	t.Parallel()
	wrongSum := func(name string, data []byte) []byte {
		file := withChunk(asPNG(t, halves(8, 6)), name, data)
		file[8+25+8+len(data)] ^= 0xff
		return file
	}
	long := bytes.Repeat([]byte("x"), 3000)
	whole := asGIF(t, frame(image.Rect(0, 0, 8, 6), red), frame(image.Rect(0, 0, 8, 6), blue))
	small := func(w, h byte) []byte { // smaller than its frames
		file := bytes.Clone(whole)
		file[6], file[8] = w, h
		return file
	}
	for name, file := range map[string][]byte{
		"a PNG's text":                 wrongSum("tEXt", []byte("Comment\x00a")),
		"a PNG's time":                 wrongSum("tIME", make([]byte, 7)),
		"a PNG's profile":              wrongSum("iCCP", long),
		"a PNG's gamma":                wrongSum("gAMA", make([]byte, 4)),
		"a PNG's transparency":         wrongSum("tRNS", make([]byte, 6)),
		"a PNG's own chunk":            wrongSum("vpAg", nil),
		"two of them":                  withChunk(wrongSum("tEXt", []byte("a\x00b")), "zTXt", long),
		"a GIF without its last byte":  whole[:len(whole)-1],
		"a GIF, something behind":      append(bytes.Clone(whole[:len(whole)-1]), 0x00, 0x00),
		"a GIF that is too narrow":     small(5, 6),
		"a GIF that is too low":        small(8, 1),
		"a GIF without a screen":       small(0, 0),
		"an APNG, whose picture stays": withChunk(asPNG(t, halves(8, 6)), "acTL", []byte{0, 0, 0, 2, 0, 0, 0, 0}),
	} {
		m, err := processor().Make(t.Context(), file)
		require.NoError(t, err, name)
		require.Equal(t, [2]int{8, 6}, [2]int{m.Width, m.Height}, name)
	}
}

// TestUnsupportedTypes checks that an unsupported kind of file is not reported as damaged:
// the error says what the sender can do.
func TestUnsupportedTypes(t *testing.T) {
	t.Parallel()
	lossless := flatJPEG(0xc0, 16, 16, "\x01\x02\x03", -1)
	lossless[bytes.Index(lossless, []byte{0xff, 0xc0})+1] = 0xc3
	deep := flatJPEG(0xc0, 16, 16, "\x01\x02\x03", -1)
	deep[bytes.Index(deep, []byte{0xff, 0xc0})+4] = 12
	for name, file := range map[string][]byte{
		"CMYK without its mark": flatJPEG(0xc0, 16, 16, "\x01\x02\x03\x04", -1),
		"lossless":              lossless,
		"12 bits":               deep,
		"animated":              riff(chunk("VP8X", make([]byte, 10)), chunk("ANIM", make([]byte, 6))),
	} {
		_, err := processor().Make(t.Context(), file)
		require.ErrorIs(t, err, feed.ErrRule, name)
		require.ErrorContains(t, err, "is not supported", name)
		require.ErrorContains(t, err, "save it as an ordinary JPEG or PNG", name)
		require.NotContains(t, err.Error(), "damaged", name)
	}
}

func TestTruncatedAndDamagedImagesRefused(t *testing.T) {
	t.Parallel()
	for name, file := range map[string][]byte{
		"JPEG": asJPEG(t, halves(64, 64)), "PNG": asPNG(t, halves(64, 64)), "WebP": webpFile(t),
		"GIF": asGIF(t, frame(image.Rect(0, 0, 8, 6), red), frame(image.Rect(0, 0, 8, 6), blue)),
	} {
		for _, n := range []int{13, len(file)/2 - 1, len(file) / 2, len(file) - 3, len(file) - 1} {
			if name == "GIF" && n == len(file)-1 { // its frames are complete
				continue
			}
			_, err := processor().Make(t.Context(), file[:n])
			require.ErrorIs(t, err, feed.ErrRule, "%s, %d of %d bytes", name, n, len(file))
		}
	}
	broken := asPNG(t, halves(64, 64))
	broken[len(broken)-20] ^= 0xff // part of a checksum
	_, err := processor().Make(t.Context(), broken)
	require.ErrorIs(t, err, feed.ErrRule)
	_, err = processor().Make(t.Context(), riff(chunk("VP8X", make([]byte, 10)), chunk("ANIM", make([]byte, 6))))
	require.ErrorIs(t, err, feed.ErrRule)
	require.ErrorContains(t, err, "animated")
}

// announced is a PNG of a few bytes with a header that states the given size.
func announced(w, h uint32) []byte {
	head := append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h), 8, 6, 0, 0, 0)
	return pngChunk(pngChunk(pngChunk([]byte(pngHead), "IHDR", head), "IDAT", []byte{0x78, 0x9c}), "IEND", nil)
}

func TestTooManyPixelsRefused(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]uint32{{7072, 7072}, {50_000_001, 1}, {1, 1 << 30}, {65535, 65535}} {
		_, err := processor().Make(t.Context(), announced(size[0], size[1]))
		require.ErrorIs(t, err, feed.ErrRule)
		require.ErrorContains(t, err, "megapixels", "%v", size)
	}
	_, err := processor().Make(t.Context(), announced(7000, 7000))
	require.ErrorIs(t, err, feed.ErrRule)
	require.NotContains(t, err.Error(), "megapixels", "it is truncated, not too large")
}

func TestPoolBounded(t *testing.T) {
	t.Parallel()
	small := asPNG(t, halves(8, 8))
	s := NewProcessor(Config{Workers: 1, Wait: time.Millisecond})
	s.turns <- struct{}{}
	_, err := s.Make(t.Context(), small)
	require.ErrorIs(t, err, errBusy, "another request has the worker")
	<-s.turns
	require.Zero(t, s.memory.taken, "no memory is held")
	require.NoError(t, s.memory.take(t.Context(), s.cfg.Memory))
	_, err = s.Make(t.Context(), small)
	require.ErrorIs(t, err, errBusy, "another request has the memory")
	s.memory.release(s.cfg.Memory)
	_, err = s.Make(t.Context(), small)
	require.NoError(t, err)

	s = NewProcessor(Config{Memory: 9 << 20})
	_, err = s.Make(t.Context(), asPNG(t, halves(1000, 1000)))
	require.ErrorIs(t, err, feed.ErrRule)
	require.ErrorContains(t, err, "media.memory")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for range 20 { // a free worker and the end of the context are found in any order
		_, err = processor().Make(ended, small)
		require.ErrorIs(t, err, context.Canceled)
		_, err = processor().Make(late, small)
		require.ErrorIs(t, err, context.DeadlineExceeded, "the call is late, the image is not bad")
	}

	s = NewProcessor(Config{Time: time.Nanosecond})
	_, err = s.Make(t.Context(), small)
	require.ErrorIs(t, err, feed.ErrRule)
	require.ErrorContains(t, err, "too long")
}

// flatJPEG is a JPEG of one color, with one component for each of the given ids. All its blocks are
// zeros, which each of its Huffman tables encodes as 0. adobe is the color transform in Adobe's
// segment; -1 omits the segment.
func flatJPEG(sof byte, w, h int, ids string, adobe int) []byte {
	n := len(ids)
	file := []byte{0xff, 0xd8}
	segment := func(marker byte, data ...byte) {
		file = binary.BigEndian.AppendUint16(append(file, 0xff, marker), uint16(len(data)+2))
		file = append(file, data...)
	}
	if adobe >= 0 {
		segment(0xee, append([]byte("Adobe"), 0, 100, 0, 0, 0, 0, byte(adobe))...)
	}
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	frame := []byte{8, byte(h >> 8), byte(h), byte(w >> 8), byte(w), byte(n)}
	scan := []byte{byte(n)}
	for _, id := range []byte(ids) {
		frame, scan = append(frame, id, 0x11, 0), append(scan, id, 0)
	}
	segment(sof, frame...)
	for _, class := range []byte{0x00, 0x10} {
		segment(0xc4, append([]byte{class, 1}, make([]byte, 16)...)...)
	}
	last := byte(63)
	if sof == 0xc2 {
		last = 0 // the first scan of a progressive image
	}
	segment(0xda, append(scan, 0, last, 0)...)
	blocks := (w + 7) / 8 * ((h + 7) / 8) * n
	file = append(file, make([]byte, blocks/4+1)...) // two bits per block
	return append(file, 0xff, 0xd9)
}

// flatPNG is a black PNG.
func flatPNG(t testing.TB, w, h, depth int, kind, interlaced byte, transparent ...byte) []byte {
	t.Helper()
	perPixel := map[byte]int{0: 1, 2: 3, 4: 2, 6: 4}[kind] * depth / 8
	rows := [][4]int{{1, 1, 0, 0}}
	if interlaced != 0 {
		rows = [][4]int{{8, 8, 0, 0}, {8, 8, 4, 0}, {4, 8, 0, 4}, {4, 4, 2, 0}, {2, 4, 0, 2}, {2, 2, 1, 0}, {1, 2, 0, 1}}
	}
	var data bytes.Buffer
	z := zlib.NewWriter(&data)
	for _, p := range rows {
		width, height := (w-p[2]+p[0]-1)/p[0], (h-p[3]+p[1]-1)/p[1]
		_, err := z.Write(make([]byte, height*(1+width*perPixel)))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	file := pngChunk([]byte(pngHead), "IHDR", append(head, byte(depth), kind, 0, 0, interlaced))
	if len(transparent) > 0 {
		file = pngChunk(file, "tRNS", transparent)
	}
	return pngChunk(pngChunk(file, "IDAT", data.Bytes()), "IEND", nil)
}

func pngChunk(file []byte, name string, data []byte) []byte {
	file = binary.BigEndian.AppendUint32(file, uint32(len(data)))
	file = append(append(file, name...), data...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(append([]byte(name), data...)))
}

// TestNeedCoversDecoders checks that decoders allocate no more than need estimates. It is
// not parallel: it measures the allocations of the process.
func TestNeedCoversDecoders(t *testing.T) {
	testenv.WithoutRace(t)
	const w, h = 600, 600
	files := map[string][]byte{}
	for name, sof := range map[string]byte{"baseline": 0xc0, "extended": 0xc1, "progressive": 0xc2} {
		files[name+" gray"] = flatJPEG(sof, w, h, "\x01", -1)
		files[name+" YCbCr"] = flatJPEG(sof, w, h, "\x01\x02\x03", -1)
		files[name+" RGB"] = flatJPEG(sof, w, h, "RGB", -1)
		files[name+" CMYK"] = flatJPEG(sof, w, h, "\x01\x02\x03\x04", 0)
		files[name+" YCCK"] = flatJPEG(sof, w, h, "\x01\x02\x03\x04", 2)
	}
	for _, interlaced := range []byte{0, 1} {
		for _, depth := range []int{8, 16} {
			for _, kind := range []byte{0, 2, 4, 6} {
				name := fmt.Sprintf("PNG of type %d, %d bits, interlaced %d", kind, depth, interlaced)
				files[name] = flatPNG(t, w, h, depth, kind, interlaced)
				if kind < 4 {
					files[name+", transparent"] = flatPNG(t, w, h, depth, kind, interlaced, make([]byte, 2+2*kind)...)
				}
			}
		}
	}
	for name, file := range files {
		k, at, err := kindOf(file)
		require.NoError(t, err, name)
		head, err := k.header(bytes.NewReader(file))
		require.NoError(t, err, name)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = k.pixels(bytes.NewReader(file))
		runtime.ReadMemStats(&after)
		require.NoError(t, err, name)
		const some = 256 << 10 // rows, tables and padding at the edges
		assert.LessOrEqual(t, int64(after.TotalAlloc-before.TotalAlloc), need(head, at, 1)-decodeExtra+some, name)
	}
}

// TestPictureMemoryFreed checks that memory is freed after each picture. It is not parallel:
// it disables the automatic garbage collection, as if the heap had been large.
func TestPictureMemoryFreed(t *testing.T) {
	testenv.WithoutRace(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const memory = 32 << 20
	s, file := NewProcessor(Config{Memory: memory}), flatPNG(t, 1600, 1600, 8, 6, 0)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 8 {
		_, err := s.Make(t.Context(), file)
		require.NoError(t, err)
		runtime.ReadMemStats(&after)
		require.Less(t, after.HeapAlloc, before.HeapAlloc+memory)
	}
}

func TestNeedOfLargestPictures(t *testing.T) {
	t.Parallel()
	for model, work := range map[color.Model]int{color.YCbCrModel: 12, color.CMYKModel: 16, color.RGBAModel: 12, color.NRGBA64Model: 8} {
		head := image.Config{Width: 7071, Height: 7071, ColorModel: model}
		for _, o := range []int{1, 6} {
			assert.LessOrEqual(t, need(head, layout{work: work}, o), int64(DefaultMemory))
			assert.LessOrEqual(t, Decodable(need(head, layout{work: work}, o)), int64(7071*7071), "no image takes more memory per pixel")
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		key := newKey()
		require.NoError(t, CheckKey(key))
		require.False(t, seen[key])
		seen[key] = true
	}
	for _, key := range []string{"", "..", "../../../../../../../../etc/pas", strings.Repeat("A", 32), strings.Repeat("g", 32), strings.Repeat("0", 33)} {
		require.ErrorIs(t, CheckKey(key), feed.ErrNotFound, key)
	}
}

func FuzzMake(f *testing.F) {
	f.Add(asPNG(f, halves(9, 5)))
	f.Add(withSegment(asJPEG(f, halves(16, 16)), 0xe1, append([]byte("Exif\x00\x00"), exif(binary.BigEndian, 6)...)))
	f.Add(asGIF(f, frame(image.Rect(2, 1, 5, 4), red), frame(image.Rect(0, 0, 8, 6), blue)))
	f.Add(webpFile(f))
	f.Add(announced(7000, 7000))
	// The memory allows few megapixels, so that many inputs can be tried.
	s := NewProcessor(Config{Memory: 24 << 20, Workers: 4, Wait: time.Minute})
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := s.Make(t.Context(), file)
		if err != nil {
			for _, known := range []string{"unsupported image", "bad image"} {
				if strings.HasPrefix(err.Error(), known) {
					return
				}
			}
			t.Fatalf("an error of no kind: %v", err)
		}
		for i, stored := range []File{m.Full, m.Thumb} {
			head, _, err := image.DecodeConfig(bytes.NewReader(stored.Data))
			require.NoError(t, err)
			if i == 0 {
				require.Equal(t, []int{m.Width, m.Height}, []int{head.Width, head.Height})
			}
			_, at, err := kindOf(stored.Data)
			require.NoError(t, err)
			require.Nil(t, at.exif)
		}
	})
}
