package feed

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// Site returns the host of a link in lower case, without www. and port; "" if the text is not a
// link to a host.
func Site(link string) string {
	link = strings.TrimSpace(link)
	if link == "" {
		return ""
	}
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	return siteOf(u)
}

// CheckURL rejects a link whose scheme is not http:// or https://, such as javascript:, in any
// form that browsers accept. A link without a scheme points to the app's own host. The error has
// no kind; it describes the problem of the link.
func CheckURL(link string) error {
	before, _, found := strings.Cut(link, ":")
	if !found || strings.ContainsAny(before, "/?#") {
		return nil
	}
	scheme := strings.ToLower(before)
	if (scheme == "http" || scheme == "https") && strings.HasPrefix(link[len(before):], "://") {
		return nil
	}
	return fmt.Errorf("must begin with https:// or http://, not %.20q", before+":")
}

// siteOf returns the host of a link, in Unicode if it is written in Punycode.
func siteOf(u *url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	readable, err := idna.Lookup.ToUnicode(host)
	if err == nil {
		host = readable
	}
	return strings.TrimPrefix(host, "www.")
}

// URLGroup returns the group of items that link to one page: the [CanonicalURL] if it is short
// and contains only letters, digits and _ . @ - : /, else url: and the first 128 bits of its
// SHA-256, in hex. It is "" if there is no canonical URL. Shown items are recorded by it, so a
// change of it must be announced.
func URLGroup(link string) string {
	canonical := CanonicalURL(link)
	special := func(r rune) bool {
		if r == ':' || r == '/' {
			return false
		}
		return r > unicode.MaxASCII || !idByte(byte(r), false)
	}
	if len(canonical) <= MaxItemID && !strings.ContainsFunc(canonical, special) {
		return canonical
	}
	sum := sha256.Sum256([]byte(canonical))
	return "url:" + hex.EncodeToString(sum[:16])
}
