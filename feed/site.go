package feed

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
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

func siteOf(u *url.URL) string {
	return strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), "www.")
}

// tracking lists link parameters that identify the origin of a click rather than its target,
// like those with the prefix utm_.
var tracking = []string{
	"_ga", "_gl", "_hsenc", "_hsmi", "dclid", "fbclid", "gbraid", "gclid", "gclsrc", "igshid", "mc_cid", "mc_eid", "mkt_tok",
	"msclkid", "ref_src", "ref_url", "s_cid", "ttclid", "twclid", "wbraid", "yclid",
}

// CanonicalURL returns one form for all links to the same page: https for http, host in lower
// case without www. and default port, no user, no fragment, no tracking parameters, the others
// sorted by name (stably), no slash at the end. It is "" if the link is not to a web page.
func CanonicalURL(link string) string {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" { // Parse lowers schemes
		return ""
	}
	host := siteOf(u)
	if host == "" {
		return ""
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port := u.Port()
	if port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	text := "https://" + host
	text += strings.TrimRight(u.EscapedPath(), "/")
	query := canonicalQuery(u.RawQuery)
	if query != "" {
		text += "?" + query
	}
	return text
}

// canonicalQuery keeps the parameters encoded as they are: even those that cannot be decoded may
// matter to the site.
func canonicalQuery(raw string) string {
	kept := slices.DeleteFunc(strings.Split(raw, "&"), func(p string) bool {
		name := strings.ToLower(parameterName(p))
		return p == "" || strings.HasPrefix(name, "utm_") || slices.Contains(tracking, name)
	})
	slices.SortStableFunc(kept, func(a, b string) int { return strings.Compare(parameterName(a), parameterName(b)) })
	return strings.Join(kept, "&")
}

func parameterName(p string) string {
	name, _, _ := strings.Cut(p, "=")
	return name
}

// URLGroup returns the group of items that link to one page: the [CanonicalURL] if it is short
// and contains only letters, digits and _ . @ - : /, else url: and the first 128 bits of its
// SHA-256, in hex. It is "" if there is no canonical URL. Shown items are recorded by it, so it
// must not change between versions.
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
