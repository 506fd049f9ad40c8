package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// maxTokenLength is the longest token of Elasticsearch's standard analyzer, in
// UTF-16 units; a longer word is cut into pieces of this length.
const maxTokenLength = 255

// tokenizer cuts text into the tokens Elasticsearch's standard analyzer makes
// of it: the words of Unicode Annex 29, in lower case. It may be used for any
// number of texts, by one goroutine at a time.
type tokenizer struct {
	buf []byte // the token being written in lower case
}

// each calls fn with every token in order. The token is only valid during the
// call.
func (k *tokenizer) each(text string, fn func(token []byte)) {
	asianStart, asianEnd := 0, 0 // a run of South East Asian segments is one token
	for it := words.FromString(text); it.Next(); {
		segment := it.Value()
		kind := classify(segment)
		if kind == asianSegment && asianEnd == it.Start() && asianEnd > asianStart {
			asianEnd = it.End()
			continue
		}
		if asianEnd > asianStart {
			k.emit(text[asianStart:asianEnd], fn)
		}
		asianStart, asianEnd = it.End(), it.End()
		switch kind {
		case asianSegment:
			asianStart = it.Start()
		case wordSegment:
			k.emit(segment, fn)
		case mixedSegment:
			k.emitMixed(segment, fn)
		case pictograph:
			k.emitPictographs(segment, fn)
		}
	}
	if asianEnd > asianStart {
		k.emit(text[asianStart:asianEnd], fn)
	}
}

// emit lowers a segment and hands it on, in pieces if it is too long.
func (k *tokenizer) emit(segment string, fn func([]byte)) {
	if len(segment) > maxTokenLength && utf16Length(segment) > maxTokenLength {
		k.emitLong(segment, fn)
		return
	}
	k.buf = k.buf[:0]
	for i := range len(segment) {
		b := segment[i]
		if b >= utf8.RuneSelf {
			k.lowerRunes(segment[i:])
			break
		}
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		k.buf = append(k.buf, b)
	}
	fn(k.buf)
}

func (k *tokenizer) lowerRunes(s string) {
	for _, r := range s {
		k.buf = utf8.AppendRune(k.buf, unicode.ToLower(r))
	}
}

// emitLong cuts as Lucene's scanner does, which sees no further than its
// buffer: the first word of the first maxTokenLength units is a token, and
// scanning goes on behind it.
func (k *tokenizer) emitLong(segment string, fn func([]byte)) {
	for segment != "" {
		word := segment[:prefixOfUnits(segment, maxTokenLength)]
		if classify(word) != asianSegment {
			word = words.FromString(word).First()
		}
		if classify(word) != ignoredSegment {
			k.emit(word, fn)
		}
		segment = segment[len(word):]
	}
}

// emitMixed cuts a segment that the library's Unicode version keeps together
// and Lucene's older one does not: in front of an emoji that a joiner or a skin
// tone ties to something else, and around a cedilla.
func (k *tokenizer) emitMixed(segment string, fn func([]byte)) {
	cut, size := mixedCut(segment)
	head, tail := segment[:cut], segment[cut+size:]
	kind := classify(head)
	if size == 0 && kind == ignoredSegment {
		bare := strings.TrimRight(head, string(joiner))
		tail = segment[len(bare):]
	}
	if kind != ignoredSegment {
		k.emit(head, fn)
	}
	if size == 0 {
		k.emitPictographs(tail, fn)
		return
	}
	k.each(tail, fn)
}

// emitPictographs hands on a segment of emoji. Lucene ends an emoji token at a
// presentation selector unless a joiner follows, so what comes after is cut
// off.
func (k *tokenizer) emitPictographs(segment string, fn func([]byte)) {
	end := len(segment)
	for i, r := range segment {
		if r != textSelector && r != emojiSelector {
			continue
		}
		after := i + utf8.RuneLen(r)
		if next, _ := utf8.DecodeRuneInString(segment[after:]); r == emojiSelector {
			if next == joiner {
				continue
			}
			end = after
		} else {
			end = i
		}
		break
	}
	k.emit(segment[:end], fn)
}

func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// prefixOfUnits returns how many bytes of s make at most limit UTF-16 units.
func prefixOfUnits(s string, limit int) int {
	n := 0
	for i, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
		if n > limit {
			return i
		}
	}
	return len(s)
}
