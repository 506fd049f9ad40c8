package retention

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// placeholder is the part of a pattern that names what differs between keys.
var placeholder = regexp.MustCompile(`<[^>]*>`)

// Matches reports whether a key of Redis, without its prefix, is one of a pattern, such as feed:item:<id>. A part in
// brackets may be missing.
func Matches(pattern, key string) bool {
	var text strings.Builder
	for len(pattern) > 0 {
		at := placeholder.FindStringIndex(pattern)
		if at == nil {
			at = []int{len(pattern), len(pattern)}
		}
		text.WriteString(regexp.QuoteMeta(pattern[:at[0]]))
		if at[0] < at[1] {
			text.WriteString(`.+`)
		}
		pattern = pattern[at[1]:]
	}
	optional := strings.NewReplacer(`\[`, `(`, `\]`, `)?`)
	return regexp.MustCompile(`^` + optional.Replace(text.String()) + `$`).MatchString(key)
}

// OfKey returns the pattern of a key of Redis, without its prefix, "" if the list has none, and whether the key
// may have no TTL.
func OfKey(key string) (pattern string, untimed bool) {
	for _, k := range Kinds() {
		for _, p := range slices.Concat(k.Untimed, k.Redis) {
			if Matches(p, key) {
				pattern, untimed = p, untimed || slices.Contains(k.Untimed, p)
			}
		}
	}
	return pattern, untimed
}

// OfFile returns the pattern of a file in data_dir, "" if the list has none. name is relative to data_dir. Images are in
// folders of their own.
func OfFile(name string) string {
	for _, k := range Kinds() {
		for _, pattern := range k.Files {
			ok, err := path.Match(pattern, name)
			if err == nil && ok || pattern == "media/*" && strings.HasPrefix(name, "media/") {
				return pattern
			}
		}
	}
	return ""
}
