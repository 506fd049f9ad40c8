package quality

import (
	"net/url"
	"strings"
	"time"

	"github.com/freshet/freshet/engine/offline"
)

// measures are the measures of one list and the item that was read, in the order
// of their columns.
const (
	ndcg20 = iota
	mrr
	hr5
	hr20
	sitesPerPage
	measures
)

// sums are the sums of the measures over reads.
type sums [measures]float64

// board collects what was measured, by reader: readers are the observations, and
// each counts the same, however much they read.
type board struct {
	data       *Data
	sites      []string // of the items
	hasSites   bool
	readers    map[string]int // their numbers
	reads      []int          // by reader
	proposed   []set          // by reader: what were candidates
	entries    []entry        // by ranking
	leftOut    int            // reads not after the item's own time
	outside    int            // reads of what was no candidate any more
	candidates int            // of all reads together
	first      time.Time      // read that was measured
	last       time.Time
}

// entry holds the measurements of one ranking.
type entry struct {
	contender
	sums  []sums // by reader
	shown []set  // by reader: what stood on a first page
}

func newBoard(d *Data, list []contender) *board {
	b := &board{data: d, sites: make([]string, len(d.items)), readers: map[string]int{}}
	for i := range d.items {
		b.sites[i] = site(d.items[i].URL)
		b.hasSites = b.hasSites || b.sites[i] != ""
	}
	for _, c := range list {
		b.entries = append(b.entries, entry{contender: c})
	}
	return b
}

// site is the host of an address, without www.
func site(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
}

// reader is the number of a reader.
func (b *board) reader(name string) int {
	n, known := b.readers[name]
	if !known {
		n = len(b.reads)
		b.readers[name] = n
		b.reads, b.proposed = append(b.reads, 0), append(b.proposed, newSet(len(b.data.items)))
		for i := range b.entries {
			e := &b.entries[i]
			e.sums, e.shown = append(e.sums, sums{}), append(e.shown, newSet(len(b.data.items)))
		}
	}
	return n
}

// add counts one read, with the lists that the rankings made at its moment.
func (b *board) add(e *event, m *moment, lists [][]int) {
	reader := b.reader(e.reader)
	b.reads[reader]++
	b.last = time.Unix(e.at, 0)
	if b.first.IsZero() {
		b.first = b.last
	}
	b.candidates += len(m.candidates)
	for _, item := range m.candidates {
		b.proposed[reader].add(item)
	}
	if b.rank(m.candidates, e.item) == 0 {
		b.outside++
	}
	for i, list := range lists {
		rank := b.rank(list, e.item)
		s := &b.entries[i].sums[reader]
		s[ndcg20] += offline.NDCG(rank, pageSize)
		s[mrr] += offline.ReciprocalRank(rank)
		s[hr5] += offline.Hit(rank, 5)
		s[hr20] += offline.Hit(rank, pageSize)
		page := list[:min(len(list), pageSize)]
		s[sitesPerPage] += float64(b.sitesOf(page))
		for _, item := range page {
			b.entries[i].shown[reader].add(item)
		}
	}
}

// rank is the place of the item, or of another one of its group; 0: there is none.
func (b *board) rank(list []int, item int) int {
	group := b.data.items[item].Group()
	for i, other := range list {
		if b.data.items[other].Group() == group {
			return i + 1
		}
	}
	return 0
}

// sitesOf is how many sites a page has items of.
func (b *board) sitesOf(page []int) int {
	met := map[string]struct{}{}
	if b.hasSites {
		for _, item := range page {
			if b.sites[item] != "" {
				met[b.sites[item]] = struct{}{}
			}
		}
	}
	return len(met)
}
