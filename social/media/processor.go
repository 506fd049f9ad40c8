package media

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/image/draw"

	"github.com/freshet/freshet/feed"
)

// Config configures a [Processor]. Zero fields have their defaults.
type Config struct {
	// Memory limits the bytes that all images in processing take together; default
	// [DefaultMemory]. A single image that needs more is refused.
	Memory int64
	// Wait is how long an image waits for memory and a worker; default 3 s.
	Wait time.Duration
	// Time is the time limit for decoding one image; default 30 s.
	Time time.Duration
	// Workers is how many images are processed at once; default half of the processors.
	Workers int
}

// DefaultMemory is enough for the largest image that is accepted, with some room for others.
const DefaultMemory = 1200 << 20

// Processor processes images. It is safe for concurrent use.
type Processor struct {
	cfg    Config
	memory budget
	turns  chan struct{}
	used   atomic.Int64 // bytes that were released since the last garbage collection
}

// NewProcessor returns a Processor.
func NewProcessor(cfg Config) *Processor {
	cfg.Memory = cmp.Or(cfg.Memory, DefaultMemory)
	cfg.Wait = cmp.Or(cfg.Wait, 3*time.Second)
	cfg.Time = cmp.Or(cfg.Time, 30*time.Second)
	cfg.Workers = cmp.Or(cfg.Workers, max(1, runtime.GOMAXPROCS(0)/2))
	return &Processor{cfg: cfg, memory: budget{most: cfg.Memory}, turns: make(chan struct{}, cfg.Workers)}
}

// SetMemory replaces Config.Memory. Images in processing keep what they have.
func (s *Processor) SetMemory(bytes int64) { s.memory.resize(bytes) }

// Make makes an image from a file of at most [MaxBytes]. Errors are [feed.ErrType],
// [feed.ErrRule], [errBusy], or the context's.
func (s *Processor) Make(ctx context.Context, file []byte) (Image, error) {
	k, at, err := kindOf(file)
	if err != nil {
		return Image{}, err
	}
	fit := file
	if at.fit != nil {
		fit = at.fit
	}
	head, err := k.header(bytes.NewReader(fit))
	if err != nil {
		return Image{}, unreadable(k.name, err)
	}
	if err := checkSize(head); err != nil {
		return Image{}, err
	}
	o := orientation(at.exif)
	leave, err := s.enter(ctx, need(head, at, o))
	if err != nil {
		return Image{}, err
	}
	defer leave()
	bounded, cancel := context.WithTimeout(ctx, s.cfg.Time)
	defer cancel()
	picture, err := k.pixels(&watched{bounded, bytes.NewReader(fit)})
	switch {
	case ctx.Err() != nil:
		return Image{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return Image{}, feed.Errorf(feed.ErrRule, "bad image: it takes too long to decode")
	case err != nil:
		return Image{}, unreadable(k.name, err)
	}
	made, err := makeFrom(upright(onCanvas(picture, head), o), k.name)
	sum := sha256.Sum256(file)
	made.Digest = hex.EncodeToString(sum[:])
	return made, err
}

// checkSize checks the dimensions in the header, before anything is decoded.
func checkSize(head image.Config) error {
	w, h := int64(head.Width), int64(head.Height)
	switch {
	case w < 1 || h < 1:
		return feed.Errorf(feed.ErrRule, "bad image: it has no pixels")
	case w > MaxPixels || h > MaxPixels || w*h > MaxPixels:
		return feed.Errorf(feed.ErrRule, "bad image: %d × %d pixels, at most %d megapixels are allowed", w, h, MaxPixels/1_000_000)
	}
	return nil
}

// decodeExtra is the memory for an image in addition to its pixels, in bytes: thumbnail, encoder,
// small parts.
const decodeExtra = 8 << 20

// mostPerPixel is the number of bytes per pixel of the most expensive image: a progressive CMYK
// JPEG.
const mostPerPixel = 24

// Decodable returns the number of pixels that images of every kind can have to be decodable with
// so many bytes of memory.
func Decodable(memory int64) int64 { return max(0, memory-decodeExtra) / mostPerPixel }

// need returns an upper bound of the bytes needed to make an image.
func need(head image.Config, at layout, orientation int) int64 {
	pixel := 4
	switch head.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model,
		color.Gray16Model,                // decoded to NRGBA64 if a color is transparent
		color.RGBAModel, color.CMYKModel: // of a JPEG: converted from planes that are decoded first
		pixel = 8
	}
	decode := pixel + at.work
	turn := 0
	if orientation > 1 {
		turn = pixel + 8 // plus a copy with 4 bytes per pixel, and the turned one
	}
	return int64(head.Width)*int64(head.Height)*int64(max(decode, turn)) + decodeExtra
}

// enter waits up to Config.Wait for memory and a worker. On success the caller must call leave.
func (s *Processor) enter(ctx context.Context, bytes int64) (leave func(), err error) {
	most := s.memory.limit()
	if bytes > most {
		return nil, feed.Errorf(feed.ErrRule, "bad image: decoding it takes %d MiB, this server allows %d (media.memory)", bytes>>20, most>>20)
	}
	waiting, cancel := context.WithTimeout(ctx, s.cfg.Wait)
	defer cancel()
	if err := s.memory.take(waiting, bytes); err != nil {
		return nil, cmp.Or(ctx.Err(), errBusy)
	}
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns; s.leave(bytes) }, nil
	case <-waiting.Done():
		s.memory.release(bytes)
		return nil, cmp.Or(ctx.Err(), errBusy)
	}
}

// collectAfter is the divisor of Config.Memory for the number of released bytes that triggers a
// garbage collection. Otherwise finished pictures stay until the heap is twice what was in use.
const collectAfter = 4

func (s *Processor) leave(bytes int64) {
	used := s.used.Add(bytes)
	if used > s.memory.limit()/collectAfter {
		s.used.Store(0)
		runtime.GC()
	}
	s.memory.release(bytes)
}

// watched is a reader that fails when its context ends, to stop the decoder: some small files take
// minutes.
type watched struct {
	ctx context.Context
	r   io.Reader
}

func (w *watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(p[:min(len(p), 4096)])
}

// onCanvas places the first frame of a GIF at its position on the screen.
func onCanvas(picture image.Image, head image.Config) image.Image {
	canvas := image.Rect(0, 0, head.Width, head.Height)
	if picture.Bounds() == canvas {
		return picture
	}
	whole := image.NewNRGBA(canvas)
	draw.Draw(whole, picture.Bounds(), picture, picture.Bounds().Min, draw.Src)
	return whole
}

// makeFrom encodes a picture and its thumbnail. JPEG and PNG keep their type, GIF becomes PNG.
// WebP, for which there is no encoder here, becomes JPEG if it is opaque, otherwise PNG.
func makeFrom(picture image.Image, from string) (Image, error) {
	size := picture.Bounds().Size()
	made := Image{Width: size.X, Height: size.Y}
	photo := from == "JPEG" || from == "WebP" && opaque(picture)
	var err error
	if made.Full, err = encode(picture, photo, 90); err != nil {
		return Image{}, err
	}
	thumb := thumbnail(picture)
	made.Color = average(thumb)
	made.Thumb, err = encode(thumb, photo || opaque(thumb), 80)
	return made, err
}

func opaque(picture image.Image) bool {
	o, ok := picture.(interface{ Opaque() bool })
	return ok && o.Opaque()
}

func encode(picture image.Image, photo bool, quality int) (File, error) {
	f := File{Type: "image/png"}
	out := &capped{left: MaxStored}
	var err error
	if photo {
		f.Type = "image/jpeg"
		err = jpeg.Encode(out, picture, &jpeg.Options{Quality: quality})
	} else {
		err = png.Encode(out, picture)
	}
	if out.left < 0 {
		return File{}, feed.Errorf(feed.ErrRule, "bad image: it is more than %d MiB as %s; send it smaller, or as JPEG", MaxStored>>20, f.Type)
	}
	if err != nil {
		return File{}, feed.Errorf(feed.ErrRule, "bad image: %w", err)
	}
	f.Data = out.Bytes()
	return f, nil
}

// capped is a buffer with a maximum size.
type capped struct {
	bytes.Buffer
	left int
}

func (c *capped) Write(p []byte) (int, error) {
	c.left -= len(p)
	if c.left < 0 {
		return 0, io.ErrShortWrite
	}
	return c.Buffer.Write(p)
}

// thumbnail scales a picture down. A large one is first scaled to four times the size with a fast
// scaler that samples few pixels, and then with one that uses all remaining pixels.
func thumbnail(picture image.Image) *image.NRGBA {
	size := picture.Bounds().Size()
	if max(size.X, size.Y) > 8*ThumbSide {
		picture = scaled(picture, 4*ThumbSide, draw.ApproxBiLinear)
	}
	return scaled(picture, ThumbSide, draw.BiLinear)
}

// scaled scales a picture down so that its longer side has the given length. It never enlarges.
func scaled(picture image.Image, side int, by draw.Scaler) *image.NRGBA {
	size := picture.Bounds().Size()
	longest := max(size.X, size.Y)
	side = min(side, longest)
	w, h := max(1, (size.X*side+longest/2)/longest), max(1, (size.Y*side+longest/2)/longest)
	to := image.NewNRGBA(image.Rect(0, 0, w, h))
	if side == longest {
		draw.Draw(to, to.Rect, picture, picture.Bounds().Min, draw.Src)
	} else {
		by.Scale(to, to.Rect, picture, picture.Bounds(), draw.Src, nil)
	}
	return to
}

// average returns the mean color of a picture, weighted by alpha, or white if it is all
// transparent.
func average(p *image.NRGBA) string {
	var r, g, b, a uint64
	for i := 0; i+3 < len(p.Pix); i += 4 {
		alpha := uint64(p.Pix[i+3])
		r, g, b, a = r+alpha*uint64(p.Pix[i]), g+alpha*uint64(p.Pix[i+1]), b+alpha*uint64(p.Pix[i+2]), a+alpha
	}
	if a == 0 {
		return "#ffffff"
	}
	return fmt.Sprintf("#%02x%02x%02x", r/a, g/a, b/a)
}
