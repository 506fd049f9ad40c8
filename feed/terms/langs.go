package terms

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Langs holds the languages of a reader, prepared for comparison. The zero value accepts all.
type Langs struct {
	some bool     // false: all languages
	keys []string // sorted, without duplicates
}

// ReadLangs prepares a list of languages; an empty list accepts all. They are BCP 47 ranges: each
// accepts texts in the same language and script, in any spelling (en, EN, en-US, en_GB.UTF-8). A
// missing script is the likely one (zh-TW is zh-Hant). If both name a region, the regions must be
// equal, or one must contain the other. Deprecated codes count as their replacements (iw, cmn).
// Variants and extensions are ignored, and "*" accepts all. The name of a language, in English or in
// itself (German, Deutsch), counts as its code, and a region may follow it in parentheses
// (Português (Brasil)). Any other text accepts texts that fold equally.
func ReadLangs(langs []string) Langs {
	l := Langs{some: len(langs) > 0 && !slices.Contains(langs, "*")}
	for _, lang := range langs {
		l.keys = append(l.keys, keysOf(lang).taken...)
	}
	slices.Sort(l.keys)
	l.keys = slices.Compact(l.keys)
	return l
}

// All reports whether every language is accepted.
func (l Langs) All() bool { return !l.some }

// Equal reports whether both accept the same languages.
func (l Langs) Equal(o Langs) bool {
	return l.some == o.some && (!l.some || slices.Equal(l.keys, o.keys))
}

// Keys returns, sorted, the [LangKeys] of which a text must have at least one.
func (l Langs) Keys() []string { return l.keys }

// Take reports whether a text in a language is accepted. A text without a language, or in an
// undetermined one or several (und, mul, zxx), always is.
func (l Langs) Take(lang string) bool {
	if lang == "" || !l.some {
		return true
	}
	own := LangKeys(lang)
	for _, key := range own {
		if _, ok := slices.BinarySearch(l.keys, key); ok {
			return true
		}
	}
	return len(own) == 0
}

// LangKeys returns the keys under which a text in the language is found, including [LangKey].
// Without keys, it matches every language. The list must not be changed.
func LangKeys(lang string) []string { return keysOf(lang).own }

// LangKey returns the key of all texts in the language and its script, in any region; "" if there
// is none.
func LangKey(lang string) string {
	own := LangKeys(lang)
	if len(own) > 0 {
		return own[len(own)-1]
	}
	return ""
}

// LangCodes returns the codes with which spellings of the language begin, in lower case: its own
// code, those of two and of three letters, and a deprecated one. It returns none for a text that
// is not a language.
func LangCodes(lang string) []string { return keysOf(lang).codes }

// keys holds the keys of one spelling of a language: own for a text, taken for a reader.
type keys struct {
	own, taken []string // the last element of own is the language with its script
	codes      []string
}

// Bounds of the cache of spellings: few are in use, but callers may send any text.
const (
	maxSpellings = 10_000
	longSpelling = 40 // bytes
)

var (
	spellings     sync.Map // spelling → keys
	spellingCount atomic.Int32
)

func keysOf(lang string) keys {
	if known, ok := spellings.Load(lang); ok {
		return known.(keys)
	}
	k := readKeys(lang)
	if len(lang) <= longSpelling && spellingCount.Load() < maxSpellings {
		_, again := spellings.LoadOrStore(strings.Clone(lang), k)
		if !again {
			spellingCount.Add(1)
		}
	}
	return k
}

// worldwide lists the multi-country regions that occur in language tags.
var worldwide = []language.Region{language.MustParseRegion("001"), language.MustParseRegion("150"), language.MustParseRegion("419")}

// anywhere replaces the region of a text that names none.
const anywhere = "zz"

// former maps codes to the deprecated codes that texts may still use.
var former = map[string]string{
	"fil": "tl", "he": "iw", "id": "in", "jv": "jw", "no": "nb", "ro": "mo", "sr": "sh", "yi": "ji", "zh": "cmn",
}

// codesByName maps the folded names of languages, in English and in the language itself, to codes.
// Some name a region or a script (Brazilian Portuguese, 繁體中文).
var codesByName = sync.OnceValue(func() map[string]string {
	codes := map[string]string{}
	add := func(tag language.Tag, name string) {
		folded := foldUnicode(name)
		if codes[folded] == "" {
			codes[folded] = tag.String()
		}
	}
	for _, tag := range display.Supported.Tags() { // es before es-AR, which has the same name
		add(tag, display.Self.Name(tag))
	}
	english := display.English.Tags()
	for _, tag := range display.Values.Tags() {
		add(tag, english.Name(tag))
	}
	delete(codes, "")
	return codes
})

// codeOfName returns the code of a language's folded name, which a region or script may follow in
// parentheses: "portuguese (brazil)", "chinese (simplified)". One that is unknown is ignored.
func codeOfName(folded string) string {
	name, within, ok := strings.Cut(strings.TrimSuffix(folded, ")"), "(")
	name, within = strings.TrimSpace(name), strings.TrimSpace(within)
	code := codesByName()[name]
	switch {
	case !ok || code == "":
		return codesByName()[folded]
	case codesByName()[within+" "+name] != "":
		return codesByName()[within+" "+name] // simplified chinese
	}
	region := regionOfName(code, within)
	if region != "" {
		return code + "-" + region
	}
	return code
}

// regionOfName returns the code of a region: the folded text is the code, or the region's name in
// English or in the language with this code. It returns "" for any other text.
func regionOfName(code, folded string) string {
	if region, err := language.ParseRegion(folded); err == nil {
		return region.String()
	}
	names, ok := regionsByName.Load(code)
	if !ok {
		names, _ = regionsByName.LoadOrStore(code, regionNames(language.Make(code)))
	}
	return names.(map[string]string)[folded]
}

var regionsByName sync.Map // code of a language → folded names of regions → their codes

// regionNames returns the codes of the countries by their folded names in English and in a language.
func regionNames(of language.Tag) map[string]string {
	codes := map[string]string{}
	for _, names := range []display.Namer{display.English.Regions(), display.Regions(of)} {
		for i := range 26 * 26 {
			region, err := language.ParseRegion(string([]byte{'A' + byte(i/26), 'A' + byte(i%26)}))
			if err != nil || !region.IsCountry() || names == nil {
				continue
			}
			codes[foldUnicode(names.Name(region))] = region.String()
		}
	}
	delete(codes, "")
	return codes
}

func readKeys(lang string) keys {
	i := strings.IndexAny(lang, ".@")
	if i > 0 { // strip the rest of a locale: en_GB.UTF-8, de_DE@euro
		lang = lang[:i]
	}
	lang = strings.TrimSpace(lang)
	tag, err := language.All.Parse(lang) // with an error, tag holds the parts that are known
	base, _, region := tag.Raw()
	switch base.String() {
	case "mul", "zxx":
		return keys{}
	case "und":
		if err == nil && !strings.HasPrefix(tag.String(), "x-") {
			return keys{}
		}
		folded := strings.ReplaceAll(foldUnicode(lang), "_", "-")
		code := codeOfName(folded)
		switch {
		case folded == "" || folded == "*":
			return keys{}
		case code != "":
			return readKeys(code)
		}
		return keys{own: []string{folded}, taken: []string{folded}}
	}
	script, _ := tag.Script()
	whole := strings.ToLower(base.String() + "-" + script.String())
	codes := FoldAll([]string{strings.FieldsFunc(lang, func(r rune) bool { return r == '-' || r == '_' })[0], base.String(), base.ISO3()})
	code := former[base.String()]
	if code != "" && !slices.Contains(codes, code) {
		codes = append(codes, code)
	}
	in := func(r language.Region) string { return whole + "-" + strings.ToLower(r.String()) }
	if region.String() == "ZZ" {
		return keys{[]string{whole + "-" + anywhere, whole}, []string{whole}, codes}
	}
	// A text has a key with "+" for each group that contains its region. So a reader of a group
	// accepts texts of all its countries, and a reader of one country those for the whole group
	// but not those of another country.
	k := keys{[]string{in(region)}, []string{in(region), whole + "-" + anywhere}, codes}
	for _, group := range worldwide {
		if group == region {
			k.taken = append(k.taken, whole+"+"+strings.ToLower(group.String()))
		} else if group.Contains(region) {
			k.own = append(k.own, whole+"+"+strings.ToLower(group.String()))
			k.taken = append(k.taken, in(group))
		}
	}
	k.own = append(k.own, whole)
	return k
}
