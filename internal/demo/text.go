package demo

import (
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed topics.txt
var topicsText string

// topic describes the items of one tag.
type topic struct {
	tag, kind       string
	who, what, also []string
}

var topics = parseTopics(topicsText)

// parseTopics reads the table; a line that is not of its form is a mistake in
// the program and panics.
func parseTopics(text string) []topic {
	var out []topic
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, " | ")
		if len(f) != 5 || headlines[f[1]] == nil {
			panic(fmt.Sprintf("topics.txt: bad line %q", line))
		}
		out = append(out, topic{tag: f[0], kind: f[1], who: strings.Split(f[2], "; "), what: strings.Split(f[3], "; "), also: strings.Split(f[4], "; ")})
	}
	return out
}

// headlines by kind of topic. {who} acts and is singular, {what} and {other}
// are its subject, {place} is a city and {n} a number.
var headlines = map[string][]string{
	"software": {
		"{who} rewrote its approach to {what} in {n} weeks", "What {n} production incidents taught us about {what}", "A gentle introduction to {what}",
		"{who} publishes its notes on {what}", "{what}: the parts nobody writes down", "How {who} cut the cost of {what} by {n} percent",
		"We removed {n},000 lines and {what} got better", "Debugging {what} on a Friday in {place}", "Ask the team: {what} after {n} months",
		"Why {who} stopped worrying about {what}", "From {what} to {other}: a migration diary", "The hidden link between {what} and {other}",
	},
	"science": {
		"{who} reports first results on {what}", "New data on {what} surprises researchers in {place}", "What {n} years of records say about {what}",
		"{what}: a field guide for the curious", "{who} asks volunteers for help with {what}", "The long search for better data on {what}",
		"Near {place}, {who} tries a new way with {what}", "How {what} and {other} turned out to be connected", "Five open questions about {what}",
		"{n} samples, one answer: {who} on {what}",
	},
	"business": {
		"{who} bets on {what}", "Moving up the agenda in {place}: {what}", "How {who} survived {n} months of {what}", "The quiet return of {what}",
		"{who} shares its numbers on {what}", "What small firms get wrong about {what}", "{what} and {other}: two sides of one problem",
		"In {place}, {who} tries something new with {what}", "{n} lessons from {who}", "{who} thinks the trouble with {what} can be fixed",
	},
	"world": {
		"{who} reaches an agreement on {what}", "{place} debates {what}", "{who} delays its decision on {what} for {n} weeks", "Explained: {what} in {n} questions",
		"What the new rules on {what} change", "{who} wants a vote on {what}", "In {place}, the argument over {what} is not over",
		"After {n} years, {who} returns to {what}", "{what} or {other}: {who} has to choose",
	},
	"culture": {
		"{who} celebrates {what} in {place}", "The people who keep {what} alive", "{what}, {n} years on", "A weekend with {who}",
		"Why everybody is talking about {what} again", "{who} opens its doors to {what}", "In praise of {what}", "Lost and found: {what} in {place}",
		"{n} objects that explain {what}", "{who} on {what}, {other} and patience",
	},
	"life": {
		"{what}: what actually helps", "{n} small things {who} learned about {what}", "A beginner's guide to {what}", "{who} rethinks {what}",
		"The case for {what} this season", "In {place}, people come together over {what}", "{what} without the fuss", "Letter from {place}: {who} and {what}",
		"What {n} readers told us about {what}", "Between {what} and {other}: a day with {who}",
	},
	"sport": {
		"{who} wins in {place} after {n} attempts", "The science of {what}", "{who} explains {what}", "{what}: {n} questions from beginners",
		"Sunday in {place}: {what} and a late goal", "How {who} came to love {what}", "Fans in {place} are divided over {what}", "{who} prepares for a season of {what}",
		"Beyond {what}: a word on {other}", "An oral history of {what}",
	},
}

// summaries follow a headline of any kind.
var summaries = []string{
	"A close look at {what}, with figures from the last {n} months.", "{who} shows what changed, what did not, and what it cost.",
	"Three people who know {what} well talk about what comes next.", "Notes from a visit in {place}: everyday life with {what}.",
	"It began as a side project, and now nobody can imagine working without it.", "Not everybody is convinced: critics point to {other}.",
	"The report runs to {n} pages; here is what matters.", "Readers in {place} sent in their own experience with {what}.",
	"With pictures, a timeline and a short list of further reading.", "Why it took so long, and why it may still fail.",
	"Part of a series on {what}.", "The discussion about {other} is only beginning.",
}

var places = []string{
	"Lisbon", "Gdańsk", "Nairobi", "Osaka", "Ghent", "Montréal", "Valparaíso", "Tallinn", "Leipzig", "Bergen", "Porto", "Trieste", "Hanoi", "Oaxaca",
	"Galway", "Wellington", "Utrecht", "Aarhus", "Kraków", "Marseille", "Cork", "Basel", "Dakar", "Halifax", "Bilbao", "Turku", "Bristol", "Pune",
}

// newspapers write about everything, the first ones most.
var newspapers = []string{"dailycourier.example", "harbourtimes.example", "thenorthern.example", "citypost.example"}

// sites by kind of topic, and of languages other than English; the first ones have
// most of the items.
var sites = map[string][]string{
	"software": {"commitlog.example", "stacktrace.example", "blog.selfhosted.example", "byteweekly.example", "kernelnotes.example", "devdiary.example"},
	"science":  {"fieldnotes.example", "openlab.example", "orbitpost.example", "specimen.example"},
	"business": {"marketsquare.example", "ledger.example", "foundersdesk.example"},
	"world":    {"capitalpost.example", "thecitizen.example", "statehouse.example"},
	"culture":  {"matinee.example", "longread.example", "backroom.example", "gallerywall.example"},
	"life":     {"kitchentable.example", "weekender.example", "homefront.example"},
	"sport":    {"fulltime.example", "peloton.example", "trackside.example"},
	"de":       {"abendbote.example", "wochenschau.example"},
	"fr":       {"lequotidien.example", "larevue.example"},
	"es":       {"lacronica.example", "elfaro.example"},
	"ja":       {"machinews.example"},
}

// site is where an item about the subject appears: on a site of its language, else in
// a newspaper, on a site for its kind of topic or for the topic alone, or on its
// author's own.
func site(r *rand.Rand, s subject, author string) string {
	some, topic := newspapers, strings.ReplaceAll(s.topic.tag, "-", "")
	switch share := r.IntN(10); {
	case sites[s.lang] != nil:
		some = sites[s.lang]
	case share < 4:
		some = sites[s.topic.kind]
	case share < 6:
		return pick(r, []string{topic + "weekly.example", "the" + topic + "letter.example", topic + "notes.example"})
	case share < 8:
		return strings.ReplaceAll(author, ".", "") + ".example"
	}
	return some[int(float64(len(some))*math.Pow(r.Float64(), 2))]
}

// phrase is a subject in another language, with the tag it belongs to.
type phrase struct{ tag, text string }

// foreign holds headlines in other languages than English.
var foreign = map[string]struct {
	subjects  []phrase
	templates []string
	summary   string
}{
	"de": {
		[]phrase{{"energy", "Wärmepumpen"}, {"cycling", "Radwege"}, {"databases", "Datensicherungen"}, {"food", "alte Apfelsorten"}, {"travel", "Nachtzüge"}, {"nature", "Wildbienen"}, {"work", "Schichtpläne"}, {"football", "Elfmeterschießen"}},
		[]string{"Was {what} wirklich bringen", "{what}: {n} Fragen und Antworten", "Warum {what} in {place} wieder gefragt sind", "Zu Besuch in {place}: {what} im Alltag", "{n} Jahre {what}: eine Bilanz"},
		"Ein genauer Blick auf ein Thema, das viele betrifft.",
	},
	"fr": {
		[]phrase{{"cities", "les rues scolaires"}, {"books", "les traductions"}, {"food", "les cantines"}, {"climate", "les tourbières"}, {"film", "les courts métrages"}, {"health", "les visites à domicile"}, {"music", "les petites salles"}, {"privacy", "les données de localisation"}},
		[]string{"Pourquoi {what} comptent de nouveau", "{n} questions sur {what}", "À {place}, {what} changent la vie du quartier", "Ce que {what} nous apprennent", "Comprendre {what} en {n} minutes"},
		"Enquête, témoignages et quelques chiffres pour mieux comprendre.",
	},
	"es": {
		[]phrase{{"space", "los telescopios"}, {"history", "los naufragios"}, {"running", "las primeras maratones"}, {"economy", "los alquileres"}, {"architecture", "las torres de madera"}, {"gaming", "los juegos de puzles"}, {"outdoors", "las rutas nocturnas"}, {"security", "las claves de acceso"}},
		[]string{"Por qué vuelven {what}", "{n} preguntas sobre {what}", "En {place}, {what} unen a los vecinos", "Lo que nadie cuenta sobre {what}", "Guía breve para entender {what}"},
		"Un reportaje con datos, voces y contexto.",
	},
	"ja": {
		[]phrase{{"space", "宇宙望遠鏡"}, {"food", "発酵食品"}, {"travel", "夜行列車"}, {"energy", "太陽光発電"}, {"books", "翻訳文学"}, {"gaming", "携帯ゲーム機"}, {"nature", "渡り鳥"}, {"music", "弦楽四重奏"}},
		[]string{"{place}で見た{what}", "{what}に関する{n}の質問", "なぜ今{what}なのか:{place}からの報告", "{what}の{n}年", "はじめての{what}:{n}分でわかる基本"},
		"データと現場の声から考えます。",
	},
}

// fill puts words into a template.
func fill(r *rand.Rand, template string, s subject) string {
	return capital(strings.NewReplacer(
		"{who}", s.who, "{what}", s.what, "{other}", s.other, "{place}", s.place, "{n}", fmt.Sprint(3+r.IntN(45)),
	).Replace(template))
}

// capital makes the first letter of a sentence a capital one.
func capital(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:]
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
