package elastic

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/esindex"
)

// answer is a decoded search: the best candidate of every group, in order.
type answer struct {
	candidates []feed.Candidate
	hits       int // how many Elasticsearch gave, before groups were joined
	left       leftOut
	last       []byte   // sort values of the last hit, a JSON array; aliases the body
	foreign    bool     // a hit is of an index that the schema was not read of
	tied       []string // where the id is the document's _id: those of the last hits that have these sort values
}

// decoder reads the filtered answer of a search,
//
//	{"hits":{"hits":[{"_id":"…","fields":{"author_id":["…"],…},"sort":[3.25,1474829460000,"id",null]},…]}}
//
// by hand: a general decoder allocates some ten times for each of hundreds of
// hits. All ids lie in one string, which holds nothing else, all traits in another.
// What a document holds is never an error: a hit that cannot be used is left out
// and counted.
type decoder struct {
	scanner
	schema *esindex.Schema
	until  int64 // the origin: nothing is dated after it
	out    answer
	arena  []byte // ids and groups, back to back
	spans  []span // one per candidate
	metaID []byte // _id of the current hit
	index  []byte // _index of the last hit
	traits []byte // of all hits, back to back
	values [][coauthors + 1]part
	hitOf  [coauthors + 1]part // of the current hit
}

// coauthors is the place of the authors behind the first among the traits of a hit.
const coauthors = 4

// part is where a trait lies in traits.
type part struct{ from, to int }

type span struct{ id, group, end int } // the id ends where the group begins; an empty group is the id

// sortField comes once in every hit; an id that held it would be escaped.
var sortField = []byte(`"sort":`)

func decode(body []byte, size int, schema *esindex.Schema, until int64) (answer, error) {
	d := decoder{scanner: scanner{data: body}, schema: schema, until: until}
	size = min(size, bytes.Count(body, sortField)) // an answer is kept: no room for more than there is
	d.out.candidates = make([]feed.Candidate, 0, size)
	d.spans = make([]span, 0, size)
	d.arena = make([]byte, 0, 16*size)
	d.values, d.traits = make([][coauthors + 1]part, 0, size), make([]byte, 0, 64*size)
	err := d.object(func(key []byte) error {
		if string(key) != "hits" {
			return d.skip()
		}
		return d.object(func(key []byte) error {
			if string(key) == "hits" {
				return d.array(func(int) error { return d.hit() })
			}
			return d.skip()
		})
	})
	if err != nil {
		return answer{}, fmt.Errorf("the answer of elasticsearch cannot be read at byte %d: %w", d.pos, err)
	}
	d.name()
	return d.out, nil
}

func (d *decoder) hit() error {
	var sort []byte
	d.metaID, d.hitOf = nil, [coauthors + 1]part{}
	err := d.object(func(key []byte) (err error) {
		switch string(key) {
		case "sort":
			sort, err = d.raw()
		case "_id":
			d.metaID, err = d.str()
		case "_index":
			err = d.from()
		case "fields":
			err = d.object(d.trait)
		default:
			err = d.skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	v, err := parseSort(sort, d.schema)
	if err != nil {
		return err
	}
	if d.schema.MetaID() {
		v.id = d.metaID
		if !bytes.Equal(sort, d.out.last) {
			d.out.tied = d.out.tied[:0]
		}
		d.out.tied = append(d.out.tied, string(v.id))
	}
	d.out.hits++
	d.out.last = sort
	d.add(v)
	return nil
}

// from reads the index of a hit; most hits are of the same one.
func (d *decoder) from() error {
	index, err := d.str()
	if !bytes.Equal(index, d.index) {
		d.index = index
		d.out.foreign = d.out.foreign || !d.schema.Stands(string(index))
	}
	return err
}

// trait reads the values of one field and keeps the first, and all authors.
func (d *decoder) trait(key []byte) error {
	names := &d.schema.Traits
	which := slices.Index([]string{names.Author, names.Site, names.Tag, names.Story}, string(key))
	if which < 0 {
		return d.skip()
	}
	at := part{len(d.traits), len(d.traits)}
	err := d.array(func(i int) error {
		if i > 0 && which != 0 {
			return d.skip()
		}
		raw, err := d.raw()
		if err != nil {
			return err
		}
		first, _ := (&scanner{data: raw}).str() // of another type: nothing to vary by
		if i > 0 {
			d.traits = append(append(d.traits, 0), first...)
			return nil
		}
		if which != 3 {
			d.traits = append(d.traits, first...)
			at.to = len(d.traits)
			return nil
		}
		var bad error
		if d.traits, bad = base64.RawURLEncoding.AppendDecode(d.traits, first); bad != nil {
			d.traits = d.traits[:at.from] // it is not ours
		}
		at.to = len(d.traits)
		return nil
	})
	d.hitOf[which] = at
	if which == 0 {
		d.hitOf[coauthors] = part{at.to, len(d.traits)}
	}
	return err
}

// add keeps a hit, or counts why it cannot be used.
func (d *decoder) add(v sortValues) {
	if len(v.id) == 0 {
		d.out.left[badID]++
		return
	}
	score, err := strconv.ParseFloat(string(v.score), 32)
	if err != nil {
		d.out.left[badScore]++
		return
	}
	unix, err := d.schema.Time.FromSort(v.time)
	if err != nil || unix > d.until { // one of several dates is not yet
		d.out.left[badTime]++
		return
	}
	at := span{id: len(d.arena)}
	d.arena = append(d.arena, v.id...)
	at.group = len(d.arena)
	d.arena = append(d.arena, v.group...)
	at.end = len(d.arena)
	d.spans, d.values = append(d.spans, at), append(d.values, d.hitOf)
	d.out.candidates = append(d.out.candidates, feed.Candidate{Source: Name, UpdateTime: unix, Score: float32(score)})
}

// name gives the candidates their ids and groups, and keeps the first, that
// is the best, of each group.
func (d *decoder) name() {
	all, traits := string(d.arena), string(d.traits)
	seen := make(map[string]struct{}, len(d.spans))
	latest := d.latest(all)
	kept := d.out.candidates[:0]
	for i, at := range d.spans {
		c := d.out.candidates[i]
		c.ID = all[at.id:at.group]
		if at, several := latest[c.ID]; several && c.UpdateTime < at {
			continue
		}
		c.Group = cmp.Or(all[at.group:at.end], c.ID)
		v := d.values[i]
		c.Traits = feed.Traits{
			Author: traits[v[0].from:v[0].to], Coauthors: traits[v[coauthors].from:v[coauthors].to], Site: traits[v[1].from:v[1].to],
			Tag: terms.Fold(traits[v[2].from:v[2].to]), Story: traits[v[3].from:v[3].to],
		}
		if d.out.left.illegal(c.ID, c.Group) {
			continue
		}
		if _, again := seen[c.Group]; again {
			continue
		}
		seen[c.Group] = struct{}{}
		kept = append(kept, c)
	}
	if 2*len(kept) < len(d.spans) {
		kept = detached(kept)
	}
	d.out.candidates = kept
}

// latest is when each item was last updated. Others may have put several documents of one,
// of which the latest counts; in an index of Freshet's own there are none: nil.
func (d *decoder) latest(ids string) map[string]int64 {
	if !d.schema.ByOthers() {
		return nil
	}
	latest := make(map[string]int64, len(d.spans))
	for i, at := range d.spans {
		id := ids[at.id:at.group]
		at := d.out.candidates[i].UpdateTime
		if before, again := latest[id]; !again || at > before {
			latest[id] = at
		}
	}
	return latest
}

// detached copies what is left of a longer answer, which would be kept whole.
func detached(few []feed.Candidate) []feed.Candidate {
	few = slices.Clone(few)
	for i := range few {
		few[i].ID, few[i].Group = strings.Clone(few[i].ID), strings.Clone(few[i].Group)
		few[i].Traits = few[i].Detached()
	}
	return few
}

// stringOrNone reads the string that a raw value is. A document may lack the field,
// and one of another index behind the name may have another type in it.
func stringOrNone(raw []byte) ([]byte, error) {
	if raw[0] != '"' {
		return nil, nil
	}
	return (&scanner{data: raw}).str()
}

// sortValues are the values of one hit, still encoded but for the strings.
type sortValues struct{ score, time, id, group []byte }

var errSort = errors.New("the sort values are not those of this query")

// parseSort reads the values in the order that order asks for them.
func parseSort(data []byte, schema *esindex.Schema) (sortValues, error) {
	var v sortValues
	n := 0
	s := scanner{data: data}
	err := s.array(func(i int) (err error) {
		n++
		raw, err := s.raw()
		if err != nil {
			return err
		}
		if schema.MetaID() && i >= 2 {
			i++ // there is no id
		}
		switch i {
		case 0:
			v.score = raw
		case 1:
			v.time = raw
		case 2:
			v.id, err = stringOrNone(raw)
		case 3:
			v.group, err = stringOrNone(raw)
		} // the last may be the document's number
		return err
	})
	if err != nil {
		return v, err
	}
	if n != 4 || s.pos != len(s.data) {
		return v, errSort
	}
	return v, nil
}
