package elastic

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/esindex"
)

// answer is a decoded search response: the best candidate of every group, in order.
type answer struct {
	candidates []feed.Candidate
	hits       int // number of hits before grouping
	left       leftOut
	last       []byte   // sort values of the last hit, a JSON array
	foreign    bool     // a hit is from an index that the schema does not cover
	tied       []string // if the id is the document's _id: ids of the last hits with these sort values
	next       cursor   // cursor of the next round; zero if there is none
}

// parsers parse responses without a memory allocation per hit; decoding into types makes ten
// per hit.
var parsers fastjson.ParserPool

// decoder decodes the filtered response of a search,
//
//	{"hits":{"hits":[{"_id":"…","fields":{"author_id":["…"],…},"sort":[3.25,1474829460000,"id",null]},…]}}
//
// All ids are slices of one string that contains nothing else, all traits of another. The
// content of a document is never an error: an unusable hit is left out and counted.
type decoder struct {
	schema *esindex.Schema
	until  int64 // the origin; later hits are left out
	out    answer
	ids    []byte // ids and groups, back to back
	traits []byte // of all hits, back to back
	rows   []row  // one per candidate
	number []byte // buffer for the current number
	index  []byte // _index of the last hit
}

// row holds the positions of a candidate's texts.
type row struct{ id, group, author, coauthors, site, tag, story part }

// part is a substring.
type part struct{ from, to int }

func (p part) of(text string) string { return text[p.from:p.to] }

func decode(body []byte, size int, schema *esindex.Schema, until int64) (answer, error) {
	p := parsers.Get()
	defer parsers.Put(p)
	root, err := p.ParseBytes(body)
	if err != nil {
		err = fmt.Errorf("%.200s", err.Error()) // the message may repeat the whole body
	} else {
		_, err = root.Object()
	}
	var hits []*fastjson.Value
	if err == nil {
		hits = root.GetArray("hits", "hits")
	}
	size = min(size, len(hits)) // answers are cached: allocate no more than needed
	d := decoder{schema: schema, until: until, ids: make([]byte, 0, 16*size), traits: make([]byte, 0, 64*size), rows: make([]row, 0, size)}
	d.out.candidates, d.out.hits = make([]feed.Candidate, 0, size), len(hits)
	for i := 0; i < len(hits) && err == nil; i++ {
		err = d.hit(hits[i])
	}
	if err != nil {
		return answer{}, fmt.Errorf("decode the elasticsearch response: %w", err)
	}
	if len(hits) > 0 {
		d.out.last = appendSort(nil, hits[len(hits)-1].GetArray("sort"))
	}
	d.name()
	return d.out, nil
}

var errSort = errors.New("the sort values do not match the query")

// hit adds a hit, or counts why it is unusable. Its sort values are in the sequence of [order].
// A document may lack a field, and in another index behind the name a field may have another
// type.
func (d *decoder) hit(hit *fastjson.Value) error {
	sort := hit.GetArray("sort")
	if len(sort) != 4 {
		return errSort
	}
	index := hit.GetStringBytes("_index")
	if !bytes.Equal(index, d.index) { // most hits are from the same index
		d.index = index
		d.out.foreign = d.out.foreign || !d.schema.Stands(string(index))
	}
	id, group := sort[2].GetStringBytes(), sort[3].GetStringBytes()
	if d.schema.MetaID() {
		id, group = hit.GetStringBytes("_id"), sort[2].GetStringBytes() // sort[3] is the _seq_no
		last := appendSort(nil, sort)
		if !bytes.Equal(last, d.out.last) {
			d.out.last, d.out.tied = last, d.out.tied[:0]
		}
		d.out.tied = append(d.out.tied, string(id))
	}
	score, badScored := strconv.ParseFloat(string(d.raw(sort[0])), 32)
	unix, badTimed := d.schema.Time.FromSort(d.raw(sort[1]))
	switch {
	case len(id) == 0:
		d.out.left[badID]++
	case badScored != nil:
		d.out.left[badScore]++
	case badTimed != nil || unix > d.until: // one of several dates is in the future
		d.out.left[badTime]++
	default:
		d.add(hit, id, group)
		d.out.candidates = append(d.out.candidates, feed.Candidate{Source: Name, UpdateTime: unix, Score: float32(score)})
	}
	return nil
}

// raw returns a value as written; the next call overwrites it.
func (d *decoder) raw(v *fastjson.Value) []byte {
	d.number = v.MarshalTo(d.number[:0])
	return d.number
}

// add stores the texts of a hit: the first value of each trait, and all authors.
func (d *decoder) add(hit *fastjson.Value, id, group []byte) {
	names, fields := &d.schema.Traits, hit.Get("fields")
	first := func(name string) part {
		at := part{len(d.traits), len(d.traits)}
		values := fields.GetArray(name)
		if name != "" && len(values) > 0 {
			d.traits = append(d.traits, values[0].GetStringBytes()...) // empty if it has another type
			at.to = len(d.traits)
		}
		return at
	}
	r := row{id: piece(&d.ids, id), group: piece(&d.ids, group), author: first(names.Author)}
	r.coauthors.from = len(d.traits)
	for i, author := range fields.GetArray(names.Author) {
		if i > 0 {
			d.traits = append(append(d.traits, 0), author.GetStringBytes()...)
		}
	}
	r.coauthors.to = len(d.traits)
	r.site, r.tag, r.story = first(names.Site), first(names.Tag), first(names.Story)
	if story, err := base64.RawURLEncoding.AppendDecode(nil, d.traits[r.story.from:]); err == nil { // else it is foreign
		d.traits = append(d.traits[:r.story.from], story...)
	} else {
		d.traits = d.traits[:r.story.from]
	}
	r.story.to = len(d.traits)
	d.rows = append(d.rows, r)
}

// piece appends to a text and returns the position.
func piece(text *[]byte, more []byte) part {
	from := len(*text)
	*text = append(*text, more...)
	return part{from, len(*text)}
}

// name sets the ids and groups of the candidates and drops all but the first, which is the
// best, of each group.
func (d *decoder) name() {
	ids, traits := string(d.ids), string(d.traits)
	seen := make(map[string]struct{}, len(d.rows))
	latest := d.latest(ids)
	kept := d.out.candidates[:0]
	for i, r := range d.rows {
		c := d.out.candidates[i]
		c.ID = r.id.of(ids)
		at, several := latest[c.ID]
		if several && c.UpdateTime < at {
			continue
		}
		c.Group = cmp.Or(r.group.of(ids), c.ID)
		c.Traits = feed.Traits{
			Author: r.author.of(traits), Coauthors: r.coauthors.of(traits), Site: r.site.of(traits), Tag: terms.Fold(r.tag.of(traits)), Story: r.story.of(traits),
		}
		if d.out.left.illegal(c.ID, c.Group) {
			continue
		}
		_, again := seen[c.Group]
		if again {
			continue
		}
		seen[c.Group] = struct{}{}
		kept = append(kept, c)
	}
	if 2*len(kept) < len(d.rows) {
		kept = detached(kept)
	}
	d.out.candidates = kept
}

// latest returns the latest update time of each item. A foreign index may have several
// documents of an item, of which the latest counts. An index of Freshet's own has no
// duplicates; then the result is nil.
func (d *decoder) latest(ids string) map[string]int64 {
	if !d.schema.ByOthers() {
		return nil
	}
	latest := make(map[string]int64, len(d.rows))
	for i, r := range d.rows {
		id, at := r.id.of(ids), d.out.candidates[i].UpdateTime
		before, again := latest[id]
		if !again || at > before {
			latest[id] = at
		}
	}
	return latest
}

// detached copies the remainder of a longer answer, which would otherwise stay in memory whole.
func detached(few []feed.Candidate) []feed.Candidate {
	few = slices.Clone(few)
	for i := range few {
		few[i].ID, few[i].Group = strings.Clone(few[i].ID), strings.Clone(few[i].Group)
		few[i].Traits = few[i].Detached()
	}
	return few
}

// appendSort writes sort values as a JSON array.
func appendSort(to []byte, values []*fastjson.Value) []byte {
	for i, v := range values {
		to = append(to, "[,"[min(i, 1)])
		if v.Type() == fastjson.TypeString { // fastjson escapes like Go source, which is not valid JSON
			text, _ := json.Marshal(string(v.GetStringBytes())) // a string can always be encoded
			to = append(to, text...)
			continue
		}
		to = v.MarshalTo(to)
	}
	return append(to, ']')
}
