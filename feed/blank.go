package feed

import (
	"strings"
	"unicode"
)

// brailleBlank is a symbol by its category, and shows nothing.
const brailleBlank = '\u2800'

// Blank reports whether a text shows nothing: it is empty, or made only of
// spaces, control and format characters, and marks without a base. A character
// that this version of Unicode does not know counts as visible.
func Blank(text string) bool { return !strings.ContainsFunc(text, shows) }

func shows(r rune) bool {
	return r != brailleBlank && !unicode.In(r, unicode.Z, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point)
}
