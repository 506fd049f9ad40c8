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

// Site is the host of a link in lower case, without www. and without its port; ""
// for what is no link to a host.
func Site(link string) string {
	if link = strings.TrimSpace(link); link == "" {
		return ""
	}
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	return siteOf(u)
}

// CheckURL refuses a link that has a scheme of another kind than http:// and https://,
// such as javascript:, however browsers read it. One without a scheme leads to somewhere on
// the app's own host. The error has no kind; it says what is wrong with the link.
func CheckURL(link string) error {
	before, _, found := strings.Cut(link, ":")
	if !found || strings.ContainsAny(before, "/?#") {
		return nil
	}
	if scheme := strings.ToLower(before); (scheme == "http" || scheme == "https") && strings.HasPrefix(link[len(before):], "://") {
		return nil
	}
	return fmt.Errorf("must begin with https:// or http://, not %.20q", before+":")
}

func siteOf(u *url.URL) string {
	return strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), "www.")
}

// tracking are parameters of links that say where a click came from and not what
// it leads to. Those that begin with utm_ are, too.
var tracking = []string{
	"_ga", "_gl", "_hsenc", "_hsmi", "dclid", "fbclid", "gbraid", "gclid", "gclsrc", "igshid", "mc_cid", "mc_eid", "mkt_tok",
	"msclkid", "ref_src", "ref_url", "s_cid", "ttclid", "twclid", "wbraid", "yclid",
}

// CanonicalURL writes links that lead to one page as one: https for http, host in
// lower case without www. and without a port that goes without saying, no user,
// no fragment, no tracking parameters, the others sorted by name (of one name in
// their order), no slash at the end. It is "" for what is no
// link to a page of the web.
func CanonicalURL(link string) string {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" { // Parse writes schemes in lower case
		return ""
	}
	host := siteOf(u)
	if host == "" {
		return ""
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	text := "https://" + host
	text += strings.TrimRight(u.EscapedPath(), "/")
	if query := canonicalQuery(u.RawQuery); query != "" {
		text += "?" + query
	}
	return text
}

// canonicalQuery leaves the parameters as they are written: what cannot be
// decoded means something to its site, too.
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

// URLGroup is the group of items that link to one page: the [CanonicalURL] where it is
// short and has only letters, digits and _ . @ - : /, else url: and the first 128 bits of
// its SHA-256, in hex. It is "" where there is no canonical URL. What readers were shown
// is kept by it, so it is the same in all versions.
func URLGroup(link string) string {
	canonical := CanonicalURL(link)
	special := func(r rune) bool { return r > unicode.MaxASCII || r != ':' && r != '/' && !idByte(byte(r), false) }
	if len(canonical) <= MaxItemID && !strings.ContainsFunc(canonical, special) {
		return canonical
	}
	sum := sha256.Sum256([]byte(canonical))
	return "url:" + hex.EncodeToString(sum[:16])
}
