package demo

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/media"
)

// shapes are the sizes of pictures, in pixels.
var shapes = []image.Point{{640, 480}, {480, 640}, {640, 360}}

// skies are the hues of skies, as fractions of the colour circle: blue, turquoise, violet, rose and
// orange.
var skies = []float64{0.58, 0.5, 0.75, 0.93, 0.06}

type landscape struct {
	size   image.Point
	hue    float64 // of the sky, as a fraction of the colour circle
	sun    image.Point
	radius float64
	ridges [3]ridge // the farthest first
}

// ridge is the top edge of a row of hills: its start as a fraction of the height, and the phases of
// its long and short waves.
type ridge struct{ begin, long, short float64 }

func newLandscape(r *rand.Rand) *landscape {
	size := pick(r, shapes)
	l := &landscape{size: size, hue: pick(r, skies) + 0.06*r.Float64(), radius: float64(size.Y) * (0.05 + 0.06*r.Float64())}
	l.sun = image.Pt(size.X/6+r.IntN(size.X*2/3), size.Y/8+r.IntN(size.Y/4))
	for i := range l.ridges {
		l.ridges[i] = ridge{0.45 + 0.16*float64(i) + 0.06*r.Float64(), 6 * r.Float64(), 6 * r.Float64()}
	}
	return l
}

func (l *landscape) draw() ([]byte, error) {
	img := image.NewRGBA(image.Rectangle{Max: l.size})
	for x := range l.size.X {
		l.column(img, x)
	}
	var b bytes.Buffer
	err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 80})
	return b.Bytes(), err
}

// column draws one column: sky, sun, and hills in front of both.
func (l *landscape) column(img *image.RGBA, x int) {
	across, height := float64(x)/float64(l.size.X), float64(l.size.Y)
	for y := range l.size.Y {
		c := shade(l.hue, 0.45, 0.65+0.3*float64(y)/height)
		if math.Hypot(float64(x-l.sun.X), float64(y-l.sun.Y)) < l.radius {
			c = shade(0.1, 0.2, 1.3)
		}
		img.SetRGBA(x, y, c)
	}
	for i, r := range l.ridges {
		c := shade(l.hue+0.45, 0.3, 0.55-0.14*float64(i))
		top := height * (r.begin + 0.07*math.Sin(5*across+r.long) + 0.03*math.Sin(13*across+r.short))
		for y := int(top); y < l.size.Y; y++ {
			img.SetRGBA(x, y, c)
		}
	}
}

// shade returns the colour with a hue, a fraction of the colour circle, a saturation and a
// lightness; both start at 0.
func shade(hue, saturation, light float64) color.RGBA {
	part := func(offset float64) uint8 {
		wave := 0.5 + 0.5*math.Cos(2*math.Pi*(hue+offset))
		return uint8(255 * min(1, light*(1-saturation+saturation*wave*1.4)))
	}
	return color.RGBA{part(0), part(-1.0 / 3), part(1.0 / 3), 255}
}

// Pictures makes images, as [media.Processor] does, and stores them, as [media.Files] does.
type Pictures interface {
	Make(ctx context.Context, file []byte) (media.Image, error)
	Save(ctx context.Context, post string, images []media.Image) (saved []social.Image, files int, err error)
}

// illustrate adds up to three pictures to a post, and returns the number of their files. If
// pictures is nil, it adds none.
func illustrate(ctx context.Context, pictures Pictures, p *social.Post, seed uint64) (files int, err error) {
	if pictures == nil {
		return 0, nil
	}
	r := rand.New(rand.NewPCG(seed, 0))
	made := make([]media.Image, pick(r, []int{1, 1, 1, 2, 3}))
	for i := range made {
		file, err := newLandscape(r).draw()
		if err != nil {
			return 0, err
		}
		if made[i], err = pictures.Make(ctx, file); err != nil {
			return 0, err
		}
	}
	if p.Images, files, err = pictures.Save(ctx, p.ID, made); err != nil {
		return 0, err
	}
	for i := range p.Images {
		p.Images[i].Alt = "Three rows of hills under the sun"
	}
	return files, nil
}
