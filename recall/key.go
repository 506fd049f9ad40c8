package recall

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
)

// queryKey is a digest of a query. It is cryptographic because agents choose their own
// profiles: on a collision one agent would get the other's feed.
type queryKey [sha256.Size]byte

func keyOf(q *feed.Query) queryKey {
	var scratch [1024]byte
	k := keyWriter(scratch[:0])
	p, r := &q.Profile, &q.Ranking
	k.number(uint64(len(p.Interests)))
	for _, tag := range slices.Sorted(maps.Keys(p.Interests)) {
		k.text(tag)
		k.float(p.Interests[tag])
	}
	k.number(uint64(len(p.Keywords)))
	for _, keyword := range p.Keywords {
		k.text(keyword.Term)
		k.float(keyword.Weight)
	}
	for _, list := range [][]string{p.Langs, p.MutedAuthors, p.MutedTags, p.MutedItems} {
		k.number(uint64(len(list)))
		for _, word := range list {
			k.text(word)
		}
	}
	k.number(uint64(len(p.MutedWords)))
	for _, w := range p.MutedWords {
		k.text(w.Term)
	}
	k.learned(q)
	for _, c := range r.Decay.Curves {
		k.text(string(c.Shape))
		k.number(uint64(c.Scale))
		k.number(uint64(c.Offset))
		k.float(c.Decay)
		k.float(c.Weight)
	}
	for p, value := range r.Values() {
		ofOthers := strings.HasPrefix(p.Name, "home.") || strings.HasPrefix(p.Name, "co_read.") // other sources, and what changes scores later
		if !ofOthers {
			k.float(value)
		}
	}
	k.filter(q.Filter)
	k.time(q.Origin)
	k.time(q.Since)
	k.number(uint64(q.N))
	k.text(q.After)
	return sha256.Sum256(k)
}

// keyWriter builds an encoding that is unique per query: every text and list is preceded by its
// length.
type keyWriter []byte

func (k *keyWriter) number(n uint64) { *k = binary.AppendUvarint(*k, n) }
func (k *keyWriter) float(f float64) { k.number(math.Float64bits(f)) }
func (k *keyWriter) text(s string)   { k.number(uint64(len(s))); *k = append(*k, s...) }

// learned writes the learned features, if the ranking uses them.
func (k *keyWriter) learned(q *feed.Query) {
	w, l := &q.Ranking.Learned, &q.Profile.Learned
	if !w.On() || len(l.Features) == 0 {
		k.number(0)
		return
	}
	k.number(uint64(len(l.Features)))
	k.number(uint64(l.At))
	for i := range l.Features {
		k.text(string(l.Features[i].Kind))
		k.text(l.Features[i].Value)
		k.float(l.Features[i].Evidence)
	}
}

// filter writes the filter, if there is one.
func (k *keyWriter) filter(f *feed.Filter) {
	if f == nil {
		k.number(0)
		return
	}
	k.number(1)
	for _, c := range []*feed.Conditions{&f.All, &f.Any, &f.None} {
		for _, list := range c.Lists() {
			k.number(uint64(len(list)))
			for _, word := range list {
				k.text(word)
			}
		}
	}
}

func (k *keyWriter) time(at time.Time) {
	k.number(uint64(at.Unix()))
	k.number(uint64(at.Nanosecond()))
}
