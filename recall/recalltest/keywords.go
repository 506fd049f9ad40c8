package recalltest

import (
	"strings"
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keywords lists by hand which texts match a keyword.
func keywords(t *testing.T, open Open) {
	texts := map[string]string{
		"cpp": "Modern C++ in 2026", "cpp17": "What C++17 brought", "c": "C is enough", "csharp": "Why C#, and not Java?", "fsharp": "f#",
		"dotnet": "The new .NET runtime", "net": "Net neutrality", "aspnet": "ASP.NET explained",
		"node": "Node.js 24 is out.", "js": "A node with js", "end": "We use node.JS. And more", "objc": "Objective-C lives", "objective": "An objective view",
		"weather": "今天天气很好", "sky": "天空和气球", "korean": "한국어 뉴스", "kana": "東京のラーメン屋",
		"york": "New York's subway", "new": "New in old York", "hyphen": "A machine-learning story", "machine": "The insomnia machine", "learning": "Learning a machine",
		"booking": "Booking.com fined", "moscow": "Новости: г.Москва", "berlin": "Mieten in z.B.Berlin", "season": "It ends.Next season", "us": "U.S. economy grows",
		"nato": "N.A.T.O. summit", "tag": "About #home_automation", "usb": "USB\u2011C cables", "usbs": "Cables of usb c", "vitamin": "Is Vitamin-D enough?", "vitamins": "Vitamin D and b",
		"accent": "Résumé tips", "wide": "Ｒｕｓｔ for all", "long": strings.Repeat("filler ", 3000) + "needle at the end",
	}
	var items []feed.Item
	for id, text := range texts {
		items = append(items,
			feed.Item{ID: id, Title: text, UpdateTime: ago(time.Hour)},
			feed.Item{ID: id + "-in-summary", Title: "Nothing", Summary: text, UpdateTime: ago(time.Hour)})
	}
	s := open(t, items)
	for keyword, want := range map[string][]string{
		"C++": {"cpp", "cpp17"}, "c#": {"csharp"}, "C": {"c", "usbs"}, "F#": {"fsharp"}, ".net": {"dotnet"}, "net": {"net"}, "asp.net": {"aspnet"},
		"node.js": {"node", "end"}, "js": {"js"}, "node": {"js"}, "objective-c": {"objc"}, "objective": {"objective"},
		"天气": {"weather"}, "气": {"weather", "sky"}, "뉴스": {"korean"}, "ラーメン": {"kana"}, "的": nil,
		"new york": {"york"}, "york new": nil, "machine learning": {"hyphen"}, "machine-learning": {"hyphen"}, "Learning a machine": {"learning"},
		"Booking": {"booking"}, "booking.com": {"booking"}, "com fined": {"booking"}, "fined booking": nil, "москва": {"moscow"}, "z.B.Berlin": {"berlin"},
		"Berlin": {"berlin"}, "next season": {"season"}, "US": {"us"}, "U.S.": {"us"}, "NATO": {"nato"}, "NATO summit": {"nato"}, "home automation": {"tag"},
		"USB-C": {"usb", "usbs"}, "usb c": {"usb", "usbs"}, "vitamin d": {"vitamin", "vitamins"}, "Vitamin\u2010D": {"vitamin", "vitamins"}, "D": {"vitamins"},
		"the": nil, "!!!": nil, "the insomnia": {"machine"}, "RÉSUMÉ": {"accent"}, "re\u0301sume\u0301": {"accent"}, "resume": nil, "rust": {"wide"},
		"needle": {"long"}, "needle at the": {"long"}, "filler needle": {"long"}, "needle filler": nil,
	} {
		t.Run(keyword, func(t *testing.T) {
			q := query(len(items), feed.Profile{Keywords: []feed.Keyword{{Term: keyword, Weight: 2}}})
			got := map[string]float32{}
			for _, c := range recallAll(t, s, q).Candidates {
				if c.Score > 0.11 {
					got[c.ID] = c.Score
				}
			}
			require.Len(t, got, 2*len(want), "%v", got)
			for _, id := range want {
				assert.InEpsilon(t, 2.1, got[id], tolerance, id)
				assert.InEpsilon(t, 1.1, got[id+"-in-summary"], tolerance, id)
				f := explained(t, s, q, []string{id, id + "-in-summary"})
				assert.Equal(t, []feed.Gain{{Name: keyword, Score: 2, In: recall.InTitle}}, f[0].Keywords)
				assert.Equal(t, []feed.Gain{{Name: keyword, Score: 1, In: recall.InSummary}}, f[1].Keywords)
			}
		})
	}
}
