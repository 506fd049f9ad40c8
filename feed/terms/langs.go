package terms

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/text/language"
)

// Langs are the languages of a reader, made ready to be compared. The zero value takes all.
type Langs struct {
	some bool     // not all
	keys []string // in order, each once
}

// ReadLangs makes languages ready; none are all. They are ranges of BCP 47: each takes what is in the
// same language and script, whatever the spelling (en, EN, en-US, en_GB.UTF-8), the script
// being the likely one where none is named (zh-TW is zh-Hant). Where both name a region it
// must be the same, or one of the other's. Codes that were replaced count as those
// that replace them (iw, cmn). Variants and extensions do not count, "*" takes all, and what is no
// language of BCP 47 takes what folds to the same text.
func ReadLangs(langs []string) Langs {
	l := Langs{some: len(langs) > 0 && !slices.Contains(langs, "*")}
	for _, lang := range langs {
		l.keys = append(l.keys, keysOf(lang).taken...)
	}
	slices.Sort(l.keys)
	l.keys = slices.Compact(l.keys)
	return l
}

// All reports whether they take every language.
func (l Langs) All() bool { return !l.some }

// Equal reports whether they take the same.
func (l Langs) Equal(o Langs) bool {
	return l.some == o.some && (!l.some || slices.Equal(l.keys, o.keys))
}

// Keys lists, in order, the [LangKeys] of which a text must have one.
func (l Langs) Keys() []string { return l.keys }

// Take reports whether a text in a language is in one of these. One without a language, of
// an undetermined or of several ones (und, mul, zxx) is in all.
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

// LangKeys lists the keys that a text in the language is found by, [LangKey] among them. None:
// it is in all languages. The list must not be changed.
func LangKeys(lang string) []string { return keysOf(lang).own }

// LangKey is the key of all texts in the language and its script, whatever their region; ""
// for none.
func LangKey(lang string) string {
	if own := LangKeys(lang); len(own) > 0 {
		return own[len(own)-1]
	}
	return ""
}

// LangCodes are the codes that spellings of the language begin with, in lower case: its own,
// those of two and of three letters, and one it had before. None: it is no language of BCP 47.
func LangCodes(lang string) []string { return keysOf(lang).codes }

// keys are those of one spelling of a language: as that of a text, and of a reader.
type keys struct {
	own, taken []string // the last of own is the language with its script
	codes      []string
}

// Spellings that have been read. There are few in fact, but everybody may write another.
const (
	maxSpellings = 10_000
	longSpelling = 40 // bytes
)

var (
	spellings     sync.Map // of keys, by spelling
	spellingCount atomic.Int32
)

func keysOf(lang string) keys {
	if known, ok := spellings.Load(lang); ok {
		return known.(keys)
	}
	k := readKeys(lang)
	if len(lang) <= longSpelling && spellingCount.Load() < maxSpellings {
		if _, again := spellings.LoadOrStore(strings.Clone(lang), k); !again {
			spellingCount.Add(1)
		}
	}
	return k
}

// worldwide are the regions of many countries that languages are written for.
var worldwide = []language.Region{language.MustParseRegion("001"), language.MustParseRegion("150"), language.MustParseRegion("419")}

// anywhere stands for the region of a text that names none.
const anywhere = "zz"

// former are codes that texts still have, by those that replace them.
var former = map[string]string{
	"fil": "tl", "he": "iw", "id": "in", "jv": "jw", "no": "nb", "ro": "mo", "sr": "sh", "yi": "ji", "zh": "cmn",
}

func readKeys(lang string) keys {
	if i := strings.IndexAny(lang, ".@"); i > 0 { // of a locale: en_GB.UTF-8, de_DE@euro
		lang = lang[:i]
	}
	lang = strings.TrimSpace(lang)
	tag, err := language.All.Parse(lang) // of what is known where there is an error
	base, _, region := tag.Raw()
	switch base.String() {
	case "mul", "zxx":
		return keys{}
	case "und":
		if err == nil && !strings.HasPrefix(tag.String(), "x-") {
			return keys{}
		}
		folded := strings.ReplaceAll(Fold(lang), "_", "-")
		if folded == "" || folded == "*" {
			return keys{}
		}
		return keys{own: []string{folded}, taken: []string{folded}}
	}
	script, _ := tag.Script()
	whole := strings.ToLower(base.String() + "-" + script.String())
	codes := FoldAll([]string{strings.FieldsFunc(lang, func(r rune) bool { return r == '-' || r == '_' })[0], base.String(), base.ISO3()})
	if code := former[base.String()]; code != "" && !slices.Contains(codes, code) {
		codes = append(codes, code)
	}
	in := func(r language.Region) string { return whole + "-" + strings.ToLower(r.String()) }
	if region.String() == "ZZ" {
		return keys{[]string{whole + "-" + anywhere, whole}, []string{whole}, codes}
	}
	// A text tells the groups that its region is of by "+", so that a reader of one country
	// takes what is for all of the group, and not what is for another country of it.
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
