package rss

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// plain returns the text of HTML in one line.
func plain(text string) string { return withoutTags(text, func(atom.Atom) bool { return true }) }

// inline are the elements that feeds use in titles. Other tags in a title are text: "How <div> works".
var inline = []atom.Atom{atom.A, atom.Abbr, atom.B, atom.Br, atom.Cite, atom.Code, atom.Em, atom.Font, atom.I, atom.Mark, atom.P, atom.Q, atom.S, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.U, atom.Wbr}

// title returns the text of a title in one line.
func title(text string) string {
	return withoutTags(text, func(tag atom.Atom) bool { return slices.Contains(inline, tag) })
}

// withoutTags removes the tags that drop chooses, comments, and what is not shown of a page.
func withoutTags(text string, drop func(atom.Atom) bool) string {
	if !strings.ContainsAny(text, "<&") {
		return oneLine(text)
	}
	var out strings.Builder
	hidden := atom.Atom(0) // the element whose content is left out
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return oneLine(out.String())
		}
		raw := string(z.Raw()) // before Token, which may reuse its memory
		t := z.Token()
		isTag := kind == html.StartTagToken || kind == html.EndTagToken || kind == html.SelfClosingTagToken
		switch {
		case hidden != 0:
			if kind == html.EndTagToken && t.DataAtom == hidden {
				hidden = 0
			}
		case kind == html.TextToken:
			out.WriteString(t.Data)
		case isTag && !drop(t.DataAtom):
			out.WriteString(raw)
		case kind == html.StartTagToken && (t.DataAtom == atom.Script || t.DataAtom == atom.Style):
			hidden = t.DataAtom
		case isTag && !slices.Contains(inline, t.DataAtom), t.DataAtom == atom.Br, t.DataAtom == atom.P:
			out.WriteByte(' ') // a block ends a word
		}
	}
}

func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
}

// shorten cuts a text to at most n characters, between two words if possible.
func shorten(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	cut := string([]rune(text)[:n-1])
	space := strings.LastIndexByte(cut, ' ')
	if space > len(cut)/2 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}

// elements calls each with the attributes of every element of a page until it returns false.
func elements(page []byte, each func(tag atom.Atom, attributes map[string]string) bool) {
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		t := z.Token()
		attributes := make(map[string]string, len(t.Attr))
		for _, a := range t.Attr {
			attributes[a.Key] = a.Val
		}
		if !each(t.DataAtom, attributes) {
			return
		}
	}
}

// firstImage returns the address of the first picture of a text; pictures of one pixel count readers.
func firstImage(text string) (address string) {
	elements([]byte(text), func(tag atom.Atom, attributes map[string]string) bool {
		isPixel := attributes["width"] == "1" || attributes["height"] == "1"
		if tag == atom.Img && !isPixel && !strings.HasPrefix(attributes["src"], "data:") {
			address = attributes["src"]
		}
		return address == ""
	})
	return address
}

// linkedFeed returns the address of the feed that a web page names.
func linkedFeed(page []byte) (address string) {
	kinds := []string{"application/rss+xml", "application/atom+xml", "application/feed+json"}
	elements(page, func(tag atom.Atom, attributes map[string]string) bool {
		isFeed := slices.Contains(kinds, strings.ToLower(attributes["type"]))
		if tag == atom.Link && isFeed && strings.Contains(attributes["rel"], "alternate") {
			address = attributes["href"]
		}
		return address == ""
	})
	return address
}
