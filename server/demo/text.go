package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/freshet/freshet/feed"
)

//go:embed words.json
var wordsJSON []byte

// vocabulary holds the words and templates of the demo's names, texts and links. In templates {who}
// is the subject and singular, {what} and {other} are topics, {place} is a city and {n} a number.
type vocabulary struct {
	Topics     []topic
	Headlines  map[string][]string // by kind of topic
	Summaries  []string            // fit any kind of headline
	Places     []string
	Newspapers []string            // cover all topics; the first ones occur most
	Sites      map[string][]string // by kind of topic, and by language other than English; the first ones occur most
	Foreign    map[string]foreign  // by language
	FirstNames []string
	LastNames  []string
	Readers    []string // names of the readers of [Profiles], who also post and have followers: u_1, u_2 and so on
	Tastes     []taste
	Profiles   map[string]feed.Profile // u_8 has none: pure freshness
}

var words = func() (w vocabulary) {
	if err := json.Unmarshal(wordsJSON, &w); err != nil {
		panic(fmt.Sprintf("words.json: %v", err)) // a programming error
	}
	return w
}()

type topic struct {
	Tag, Kind       string
	Who, What, Also []string
}

// foreign holds the headlines of a language other than English.
type foreign struct {
	Subjects  []struct{ Tag, Text string }
	Templates []string
	Summary   string
}

// site returns the site of an item about the subject: a site of its language, else a newspaper, a
// site for its kind of topic or for the topic alone, or its author's own.
func site(r *rand.Rand, s subject, author string) string {
	some, topic := words.Newspapers, strings.ReplaceAll(s.topic.Tag, "-", "")
	share := r.IntN(10)
	switch {
	case words.Sites[s.lang] != nil:
		some = words.Sites[s.lang]
	case share < 4:
		some = words.Sites[s.topic.Kind]
	case share < 6:
		return pick(r, []string{topic + "weekly.example", "the" + topic + "letter.example", topic + "notes.example"})
	case share < 8:
		return strings.ReplaceAll(author, ".", "") + ".example"
	}
	return some[int(float64(len(some))*math.Pow(r.Float64(), 2))]
}

func fill(r *rand.Rand, template string, s subject) string {
	return capital(strings.NewReplacer(
		"{who}", s.who, "{what}", s.what, "{other}", s.other, "{place}", s.place, "{n}", fmt.Sprint(3+r.IntN(45)),
	).Replace(template))
}

// capital returns s with its first letter in upper case.
func capital(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:]
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
