package feed

import (
	"net/url"
	"slices"
	"strings"
)

// tracking lists link parameters that tell where a click came from, or who clicked, rather than what
// the link leads to. Names that sites also use for content, such as ref, cid and source, are not
// among them.
var tracking = strings.Fields(`
	_ga _gl dclid gad_campaignid gad_source gbraid gclid gclsrc gps_source srsltid wbraid
	fbclid fb_ref fb_source fb_comment_id action_object_map action_ref_map action_type_map mibextid igsh igshid
	msclkid ocid twclid ref_src ref_url __twitter_impression ttclid li_fat_id lipi licu rdt_cid sccid epik wprov
	yclid ysclid _openstat rb_clickid dicbo tblci irclickid irgwc cjevent cjdata awc awclid sscid zanpid _trkparms _trksid
	mc_cid mc_eid mc_tc mkt_tok _hsenc _hsmi __hssc __hstc __hsfp hsctatracking ml_subscriber ml_subscriber_hash
	vero_conv vero_id oly_anon_id oly_enc_id _ke _kx dm_i nr_email_referer trk_contact trk_module trk_msg trk_sid
	__s wickedid s_cid s_kwcid ef_id icid ncid wt.mc_id xtor elqtrack elqtrackid _branch_match_id _branch_referrer
	guccounter guce_referrer guce_referrer_sig at_campaign at_medium ns_campaign ns_mchannel ns_source ns_linkname
	triedredirect showwelcomeonshare`)

// trackingPrefixes begin the names of further ones.
var trackingPrefixes = []string{"utm_", "itm_", "mtm_", "matomo_", "piwik_", "pk_", "hsa_", "fb_action_"}

// sharing lists, for sites that many links lead to, what their share buttons append: who shared the
// link, and where. On other sites these names may be content.
var sharing = map[string][]string{
	"bilibili.com":       {"spm_id_from", "vd_source"},
	"bloomberg.com":      {"leadsource", "sref", "srnd"},
	"ft.com":             {"sharetype"},
	"imdb.com":           {"ref_"},
	"linkedin.com":       {"rcm", "refid", "trackingid", "trk"},
	"medium.com":         {"sk", "source"},
	"nytimes.com":        {"referringsource", "smid", "smtyp", "unlocked_article_code"},
	"reddit.com":         {"rdt", "share_id"},
	"soundcloud.com":     {"si"},
	"spotify.com":        {"dlsi", "nd", "si"},
	"substack.com":       {"isfreemail", "r"},
	"theguardian.com":    {"cmp", "intcmp"},
	"tiktok.com":         {"_r", "_t", "is_copy_url", "is_from_webapp", "sender_device", "web_id"},
	"twitter.com":        {"s", "t"},
	"washingtonpost.com": {"itid"},
	"wsj.com":            {"mod", "reflink", "st"},
	"x.com":              {"s", "t"},
	"youtu.be":           {"feature", "si"},
	"youtube.com":        {"ab_channel", "feature", "pp", "si"},
}

// sharedOn returns the parameters of [sharing] for a host: those of its site.
func sharedOn(host string) []string {
	for found := true; found; _, host, found = strings.Cut(host, ".") {
		if names := sharing[host]; names != nil {
			return names
		}
	}
	return nil
}

// tracks reports whether a parameter makes no other page; shared are those of the link's site.
func tracks(parameter string, shared []string) bool {
	name := strings.ToLower(parameterName(parameter))
	return slices.Contains(tracking, name) || slices.Contains(shared, name) ||
		slices.ContainsFunc(trackingPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// CanonicalURL returns one form for all links to the same page: https for http; host in lower case
// and Unicode, without www. and default port; no user; no fragment, unless it is a page of an app
// (#/… or #!…); no tracking and sharing parameters, the others sorted by name (stably); no slash at the end; one
// way to escape (RFC 3986, 6.2.2). It is "" if the link is not to a web page.
func CanonicalURL(link string) string {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" { // Parse lowers schemes
		return ""
	}
	host := siteOf(u)
	if host == "" {
		return ""
	}
	shared := sharedOn(host)
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port := u.Port()
	if port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	path := withoutDots(canonicalEscapes(u.EscapedPath()))
	text := "https://" + host + strings.TrimRight(path, "/")
	query := canonicalQuery(u.RawQuery, shared)
	if query != "" {
		text += "?" + query
	}
	return text + canonicalFragment(u.EscapedFragment(), shared)
}

// canonicalFragment returns a fragment that is a page of an app, with its #.
func canonicalFragment(fragment string, shared []string) string {
	if !strings.HasPrefix(fragment, "/") && !strings.HasPrefix(fragment, "!") {
		return ""
	}
	fragment, _, _ = strings.Cut(fragment, ":~:") // a text that the browser is to mark
	path, query, _ := strings.Cut(fragment, "?")
	path = strings.TrimRight(canonicalEscapes(path), "/")
	query = canonicalQuery(query, shared)
	switch {
	case query != "":
		return "#" + path + "?" + query
	case path == "", path == "!":
		return ""
	}
	return "#" + path
}

// canonicalQuery keeps parameters that cannot be decoded: even those may matter to the site.
func canonicalQuery(raw string, shared []string) string {
	kept := strings.Split(canonicalEscapes(raw), "&")
	kept = slices.DeleteFunc(kept, func(p string) bool { return p == "" || tracks(p, shared) })
	slices.SortStableFunc(kept, func(a, b string) int { return strings.Compare(parameterName(a), parameterName(b)) })
	return strings.Join(kept, "&")
}

func parameterName(p string) string {
	name, _, _ := strings.Cut(p, "=")
	return name
}

const upperHex = "0123456789ABCDEF"

// canonicalEscapes writes escapes with capital letters, decodes those of unreserved characters, and
// escapes what is not ASCII. What is no escape stays.
func canonicalEscapes(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		c, escaped := s[i], false
		if c == '%' && i+2 < len(s) {
			high, low := hexDigit(s[i+1]), hexDigit(s[i+2])
			escaped = high >= 0 && low >= 0
			if escaped {
				c, i = byte(high<<4|low), i+2
			}
		}
		if escaped && !unreserved(c) || c >= 0x80 {
			out.WriteByte('%')
			out.WriteByte(upperHex[c>>4])
			c = upperHex[c&15]
		}
		out.WriteByte(c)
	}
	return out.String()
}

func hexDigit(c byte) int { return strings.IndexByte(upperHex, strings.ToUpper(string(c))[0]) }

func unreserved(c byte) bool {
	return strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", c) >= 0
}

// withoutDots removes the segments . and .. of a path, as browsers do.
func withoutDots(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	var kept []string
	for segment := range strings.SplitSeq(path, "/") {
		switch {
		case segment == "..":
			kept = kept[:max(1, len(kept)-1)]
		case segment != ".":
			kept = append(kept, segment)
		}
	}
	return strings.Join(kept, "/")
}
