package media

import (
	"bytes"
	"slices"

	"github.com/freshet/freshet/feed"
)

// markup makes a file something else to a program that looks for it anywhere, not only at
// the beginning.
var markup = []string{"<!doctype", "<html", "<script", "<svg ", "<svg>", "<svg\n", "<svg\t", "<svg/", "<?php", "%pdf-"}

const (
	sniffed = 1024 // how far programs look for what a file is
	written = 12   // characters that follow markup where it was written, and not drawn by chance
)

// pure refuses a file that is also an archive or a script to a program that would find it.
// Behind a JPEG or a PNG cameras, phones and editors leave pictures, films and blocks of
// their own, which are dropped. The bytes of a GIF and of a WebP can begin a script, so
// nothing but padding may follow them.
func pure(k kind, file []byte, end int) error {
	tail := bytes.Trim(file[end:], "\x00 \t\r\n")
	foreign := len(tail) > 0 && k.name != "JPEG" && k.name != "PNG"
	if foreign || hasMarkup(file[:min(end, sniffed)], 0) || hasMarkup(tail, written) || hasArchive(tail) {
		return feed.Errorf(feed.ErrType, "not an image that can be taken: the %s has something else in it, too, such as an archive or a script; save it anew as an image", k.name)
	}
	return nil
}

// hasMarkup reports whether there is markup that so many characters of text follow, or the
// end. Compressed films have the few bytes of it by chance.
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
	return !bytes.ContainsFunc(data, func(r rune) bool { return r != '\t' && r != '\r' && r != '\n' && (r < ' ' || r > '~') })
}

// hasArchive reports whether an archive could be read from data. A zip begins with a file, or
// has its directory behind its files; four bytes of one of them alone stand in many a film.
func hasArchive(data []byte) bool {
	before, files, found := bytes.Cut(data, []byte("PK\x03\x04"))
	if found && (len(before) == 0 || bytes.Contains(files, []byte("PK\x05\x06"))) {
		return true
	}
	return bytes.Contains(data, []byte("Rar!\x1a\x07")) || bytes.Contains(data, []byte("7z\xbc\xaf\x27\x1c"))
}
