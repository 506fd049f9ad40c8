package media

import (
	"bytes"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
)

// markup lists texts by which programs that search a whole file, not only its beginning, take it
// for another type.
var markup = []string{"<!doctype", "<html", "<script", "<svg ", "<svg>", "<svg\n", "<svg\t", "<svg/", "<?php", "%pdf-"}

const (
	sniffed = 1024 // bytes at the beginning that programs check to detect a type
	written = 12   // text characters that must follow markup; otherwise it counts as chance
)

// checkPure refuses a file that some programs would also accept as an archive or a script. Cameras,
// phones and editors append pictures, videos and private data to a JPEG or PNG, which are dropped.
// The first bytes of a GIF or WebP can begin a script, so only padding may follow the image.
func checkPure(k kind, file []byte, end int) error {
	tail := bytes.Trim(file[end:], "\x00 \t\r\n")
	foreign := len(tail) > 0 && k.name != "JPEG" && k.name != "PNG"
	mixed := foreign || hasMarkup(file[:min(end, sniffed)], 0) || hasMarkup(tail, written)
	if mixed || hasArchive(tail) {
		return feed.Errorf(feed.ErrType, "unsupported image: the %s also contains other data, such as an archive or a script; save it again as an image", k.name)
	}
	return nil
}

// hasMarkup reports whether data has markup that is followed by so many characters of text, or by
// text up to the end. Compressed videos contain the few bytes of markup alone by chance.
func hasMarkup(data []byte, follow int) bool {
	lower := bytes.ToLower(data)
	return slices.ContainsFunc(markup, func(sign string) bool {
		for rest := lower; ; {
			_, after, found := bytes.Cut(rest, []byte(sign))
			if !found {
				return false
			}
			if isText(after[:min(len(after), follow)]) {
				return true
			}
			rest = after
		}
	})
}

func isText(data []byte) bool {
	return !bytes.ContainsFunc(data, func(r rune) bool {
		printable := ' ' <= r && r <= '~'
		return !printable && !strings.ContainsRune("\t\r\n", r)
	})
}

// hasArchive reports whether data could be read as an archive. A zip begins with a file, or has
// its directory after its files. The four bytes of one of them alone occur in many videos.
func hasArchive(data []byte) bool {
	before, files, found := bytes.Cut(data, []byte("PK\x03\x04"))
	if found && (len(before) == 0 || bytes.Contains(files, []byte("PK\x05\x06"))) {
		return true
	}
	return bytes.Contains(data, []byte("Rar!\x1a\x07")) || bytes.Contains(data, []byte("7z\xbc\xaf\x27\x1c"))
}
