package memory

import (
	"unicode"
	"unicode/utf8"
)

// segmentKind says what the standard analyzer makes of one Annex 29 segment.
type segmentKind uint8

const (
	ignoredSegment segmentKind = iota // spaces, punctuation, marks
	wordSegment                       // a token
	asianSegment                      // part of a run that is one token
	pictograph                        // an emoji token
	mixedSegment                      // has to be cut before it can be told
)

const (
	joiner        = '\u200d'
	textSelector  = '\ufe0e'
	emojiSelector = '\ufe0f'
	cedilla       = '\u00b8'
	keycap        = '\u20e3'
)

// classify decides by the segment's characters; Annex 29 itself only says
// where segments end, not which of them are words.
func classify(segment string) segmentKind {
	kind := ignoredSegment
	for i := range len(segment) {
		b := segment[i]
		if b >= utf8.RuneSelf {
			return classifyRunes(segment)
		}
		if 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' {
			kind = wordSegment
		}
	}
	return kind
}

func classifyRunes(segment string) segmentKind {
	if cut, _ := mixedCut(segment); cut >= 0 {
		return mixedSegment
	}
	regional := 0
	first := rune(-1)
	for _, r := range segment {
		if first < 0 {
			first = r
		}
		switch {
		case r == keycap && (first == '#' || first == '*'):
			return wordSegment
		case unicode.Is(unicode.Regional_Indicator, r):
			if regional++; regional == 2 {
				return wordSegment
			}
		case unicode.Is(southEastAsian, r):
			if r == first {
				return asianSegment
			}
		case unicode.Is(pictographs, r):
			return pictograph
		case isWordRune(r):
			return wordSegment
		}
	}
	return ignoredSegment
}

// mixedCut finds where a mixed segment is cut and how many bytes are left out
// there; -1 if the segment is not mixed.
func mixedCut(segment string) (at, leftOut int) {
	first, _ := utf8.DecodeRuneInString(segment)
	emoji := unicode.Is(pictographs, first)
	for i, r := range segment {
		if r == cedilla {
			return i, utf8.RuneLen(r)
		}
		if i > 0 && !emoji && unicode.Is(pictographs, r) {
			return i, 0
		}
	}
	return -1, 0
}

func isWordRune(r rune) bool {
	if unicode.IsLetter(r) || unicode.Is(unicode.Nd, r) {
		return r != 0x3006 // the one old letter that Annex 29 leaves out
	}
	return unicode.Is(letterLike, r) || unicode.In(r, unicode.Han, unicode.Katakana, unicode.Hiragana)
}

// The tables below hold what Go's unicode package has no table for. They were
// read off Elasticsearch 8.19 by asking its analyzer about each code point.

// letterLike are characters that make a word though their category is neither
// letter nor decimal digit: modifier symbols, letter numbers, circled letters.
var letterLike = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x02c2, Hi: 0x02c5, Stride: 1},
		{Lo: 0x02d2, Hi: 0x02d7, Stride: 1},
		{Lo: 0x02de, Hi: 0x02df, Stride: 1},
		{Lo: 0x02ed, Hi: 0x02ed, Stride: 1},
		{Lo: 0x02ef, Hi: 0x02ff, Stride: 1},
		{Lo: 0x055b, Hi: 0x055c, Stride: 1},
		{Lo: 0x055e, Hi: 0x055e, Stride: 1},
		{Lo: 0x05f3, Hi: 0x05f3, Stride: 1},
		{Lo: 0x066b, Hi: 0x066b, Stride: 1},
		{Lo: 0x16ee, Hi: 0x16f0, Stride: 1},
		{Lo: 0x2160, Hi: 0x2182, Stride: 1},
		{Lo: 0x2185, Hi: 0x2188, Stride: 1},
		{Lo: 0x24b6, Hi: 0x24c1, Stride: 1},
		{Lo: 0x24c3, Hi: 0x24e9, Stride: 1},
		{Lo: 0x309b, Hi: 0x309c, Stride: 1},
		{Lo: 0x30a0, Hi: 0x30a0, Stride: 1},
		{Lo: 0xa6e6, Hi: 0xa6ef, Stride: 1},
		{Lo: 0xa720, Hi: 0xa721, Stride: 1},
		{Lo: 0xa789, Hi: 0xa78a, Stride: 1},
		{Lo: 0xab5b, Hi: 0xab5b, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x10140, Hi: 0x10174, Stride: 1},
		{Lo: 0x10341, Hi: 0x10341, Stride: 1},
		{Lo: 0x1034a, Hi: 0x1034a, Stride: 1},
		{Lo: 0x103d1, Hi: 0x103d5, Stride: 1},
		{Lo: 0x12400, Hi: 0x1246e, Stride: 1},
		{Lo: 0x1f130, Hi: 0x1f149, Stride: 1},
		{Lo: 0x1f150, Hi: 0x1f169, Stride: 1},
		{Lo: 0x1f172, Hi: 0x1f17d, Stride: 1},
		{Lo: 0x1f180, Hi: 0x1f189, Stride: 1},
	},
}

// southEastAsian are characters of scripts written without spaces (Thai, Lao,
// Myanmar, Khmer and their like); a run of them is one token.
var southEastAsian = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0e01, Hi: 0x0e3a, Stride: 1},
		{Lo: 0x0e40, Hi: 0x0e4e, Stride: 1},
		{Lo: 0x0e81, Hi: 0x0e82, Stride: 1},
		{Lo: 0x0e84, Hi: 0x0e84, Stride: 1},
		{Lo: 0x0e86, Hi: 0x0e8a, Stride: 1},
		{Lo: 0x0e8c, Hi: 0x0ea3, Stride: 1},
		{Lo: 0x0ea5, Hi: 0x0ea5, Stride: 1},
		{Lo: 0x0ea7, Hi: 0x0ebd, Stride: 1},
		{Lo: 0x0ec0, Hi: 0x0ec4, Stride: 1},
		{Lo: 0x0ec6, Hi: 0x0ec6, Stride: 1},
		{Lo: 0x0ec8, Hi: 0x0ecd, Stride: 1},
		{Lo: 0x0edc, Hi: 0x0edf, Stride: 1},
		{Lo: 0x1000, Hi: 0x103f, Stride: 1},
		{Lo: 0x1050, Hi: 0x108f, Stride: 1},
		{Lo: 0x109a, Hi: 0x109f, Stride: 1},
		{Lo: 0x1780, Hi: 0x17d3, Stride: 1},
		{Lo: 0x17d7, Hi: 0x17d7, Stride: 1},
		{Lo: 0x17dc, Hi: 0x17dd, Stride: 1},
		{Lo: 0x1950, Hi: 0x196d, Stride: 1},
		{Lo: 0x1970, Hi: 0x1974, Stride: 1},
		{Lo: 0x1980, Hi: 0x19ab, Stride: 1},
		{Lo: 0x19b0, Hi: 0x19c9, Stride: 1},
		{Lo: 0x19da, Hi: 0x19da, Stride: 1},
		{Lo: 0x19de, Hi: 0x19df, Stride: 1},
		{Lo: 0x1a20, Hi: 0x1a5e, Stride: 1},
		{Lo: 0x1a60, Hi: 0x1a7c, Stride: 1},
		{Lo: 0x1aa0, Hi: 0x1aad, Stride: 1},
		{Lo: 0xa9e0, Hi: 0xa9ef, Stride: 1},
		{Lo: 0xa9fa, Hi: 0xa9fe, Stride: 1},
		{Lo: 0xaa60, Hi: 0xaac2, Stride: 1},
		{Lo: 0xaadb, Hi: 0xaadf, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x11700, Hi: 0x1171a, Stride: 1},
		{Lo: 0x1171d, Hi: 0x1172b, Stride: 1},
		{Lo: 0x1173a, Hi: 0x1173b, Stride: 1},
		{Lo: 0x1173f, Hi: 0x1173f, Stride: 1},
	},
}

// pictographs are characters that make an emoji token by themselves.
var pictographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00a9, Hi: 0x00a9, Stride: 1},
		{Lo: 0x00ae, Hi: 0x00ae, Stride: 1},
		{Lo: 0x203c, Hi: 0x203c, Stride: 1},
		{Lo: 0x2049, Hi: 0x2049, Stride: 1},
		{Lo: 0x2122, Hi: 0x2122, Stride: 1},
		{Lo: 0x2139, Hi: 0x2139, Stride: 1},
		{Lo: 0x2194, Hi: 0x2199, Stride: 1},
		{Lo: 0x21a9, Hi: 0x21aa, Stride: 1},
		{Lo: 0x231a, Hi: 0x231b, Stride: 1},
		{Lo: 0x2328, Hi: 0x2328, Stride: 1},
		{Lo: 0x2388, Hi: 0x2388, Stride: 1},
		{Lo: 0x23cf, Hi: 0x23cf, Stride: 1},
		{Lo: 0x23e9, Hi: 0x23f3, Stride: 1},
		{Lo: 0x23f8, Hi: 0x23fa, Stride: 1},
		{Lo: 0x24c2, Hi: 0x24c2, Stride: 1},
		{Lo: 0x25aa, Hi: 0x25ab, Stride: 1},
		{Lo: 0x25b6, Hi: 0x25b6, Stride: 1},
		{Lo: 0x25c0, Hi: 0x25c0, Stride: 1},
		{Lo: 0x25fb, Hi: 0x25fe, Stride: 1},
		{Lo: 0x2600, Hi: 0x2605, Stride: 1},
		{Lo: 0x2607, Hi: 0x2612, Stride: 1},
		{Lo: 0x2614, Hi: 0x2685, Stride: 1},
		{Lo: 0x2690, Hi: 0x2705, Stride: 1},
		{Lo: 0x2708, Hi: 0x2712, Stride: 1},
		{Lo: 0x2714, Hi: 0x2714, Stride: 1},
		{Lo: 0x2716, Hi: 0x2716, Stride: 1},
		{Lo: 0x271d, Hi: 0x271d, Stride: 1},
		{Lo: 0x2721, Hi: 0x2721, Stride: 1},
		{Lo: 0x2728, Hi: 0x2728, Stride: 1},
		{Lo: 0x2733, Hi: 0x2734, Stride: 1},
		{Lo: 0x2744, Hi: 0x2744, Stride: 1},
		{Lo: 0x2747, Hi: 0x2747, Stride: 1},
		{Lo: 0x274c, Hi: 0x274c, Stride: 1},
		{Lo: 0x274e, Hi: 0x274e, Stride: 1},
		{Lo: 0x2753, Hi: 0x2755, Stride: 1},
		{Lo: 0x2757, Hi: 0x2757, Stride: 1},
		{Lo: 0x2763, Hi: 0x2767, Stride: 1},
		{Lo: 0x2795, Hi: 0x2797, Stride: 1},
		{Lo: 0x27a1, Hi: 0x27a1, Stride: 1},
		{Lo: 0x27b0, Hi: 0x27b0, Stride: 1},
		{Lo: 0x27bf, Hi: 0x27bf, Stride: 1},
		{Lo: 0x2934, Hi: 0x2935, Stride: 1},
		{Lo: 0x2b05, Hi: 0x2b07, Stride: 1},
		{Lo: 0x2b1b, Hi: 0x2b1c, Stride: 1},
		{Lo: 0x2b50, Hi: 0x2b50, Stride: 1},
		{Lo: 0x2b55, Hi: 0x2b55, Stride: 1},
		{Lo: 0x3030, Hi: 0x3030, Stride: 1},
		{Lo: 0x303d, Hi: 0x303d, Stride: 1},
		{Lo: 0x3297, Hi: 0x3297, Stride: 1},
		{Lo: 0x3299, Hi: 0x3299, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f000, Hi: 0x1f0ff, Stride: 1},
		{Lo: 0x1f10d, Hi: 0x1f10f, Stride: 1},
		{Lo: 0x1f12f, Hi: 0x1f12f, Stride: 1},
		{Lo: 0x1f16c, Hi: 0x1f171, Stride: 1},
		{Lo: 0x1f17e, Hi: 0x1f17f, Stride: 1},
		{Lo: 0x1f18e, Hi: 0x1f18e, Stride: 1},
		{Lo: 0x1f191, Hi: 0x1f19a, Stride: 1},
		{Lo: 0x1f1ad, Hi: 0x1f1e5, Stride: 1},
		{Lo: 0x1f201, Hi: 0x1f20f, Stride: 1},
		{Lo: 0x1f21a, Hi: 0x1f21a, Stride: 1},
		{Lo: 0x1f22f, Hi: 0x1f22f, Stride: 1},
		{Lo: 0x1f232, Hi: 0x1f23a, Stride: 1},
		{Lo: 0x1f23c, Hi: 0x1f23f, Stride: 1},
		{Lo: 0x1f249, Hi: 0x1f53d, Stride: 1},
		{Lo: 0x1f546, Hi: 0x1f64f, Stride: 1},
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1},
		{Lo: 0x1f774, Hi: 0x1f77f, Stride: 1},
		{Lo: 0x1f7d5, Hi: 0x1f7ff, Stride: 1},
		{Lo: 0x1f80c, Hi: 0x1f80f, Stride: 1},
		{Lo: 0x1f848, Hi: 0x1f84f, Stride: 1},
		{Lo: 0x1f85a, Hi: 0x1f85f, Stride: 1},
		{Lo: 0x1f888, Hi: 0x1f88f, Stride: 1},
		{Lo: 0x1f8ae, Hi: 0x1f8ff, Stride: 1},
		{Lo: 0x1f90c, Hi: 0x1f93a, Stride: 1},
		{Lo: 0x1f93c, Hi: 0x1f945, Stride: 1},
		{Lo: 0x1f947, Hi: 0x1fffd, Stride: 1},
	},
	LatinOffset: 2,
}
