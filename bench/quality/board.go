package quality

import (
	"net/url"
	"strings"
	"time"

	"github.com/freshet/freshet/engine/offline"
)

// The measures of one list and the item that was read, in column order.
const (
	ndcg20 = iota
	mrr
	hr5
	hr20
	sitesPerPage
	measures
)

// sums holds the sums of the measures over reads.
type sums [measures]float64

// board collects measurements by reader: readers are the observations, with equal weight
// regardless of how much they read.
type board struct {
	data       *Data
	sites      []string // by item
	hasSites   bool
	readers    map[string]int // number of each reader
	reads      []int          // by reader
	proposed   []set          // by reader: the candidates
	entries    []entry        // by ranking
	leftOut    int            // reads at or before the item's own time
	outside    int            // reads of items that were no longer candidates
	candidates int            // over all reads
	first      time.Time      // time of the first measured read
	last       time.Time
}

// entry holds the measurements of one ranking.
type entry struct {
	contender
	sums  []sums // by reader
	shown []set  // by reader: items on the first page
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

// site returns the host of a URL, without www.
func site(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
}

// reader returns the number of a reader.
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

// add counts one read, with the lists that the rankings produced just before it.
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

// rank returns the position of the item, or of another one of its group; 0 if there is none.
func (b *board) rank(list []int, item int) int {
	group := b.data.items[item].Group()
	for i, other := range list {
		if b.data.items[other].Group() == group {
			return i + 1
		}
	}
	return 0
}

// sitesOf returns the number of distinct sites on a page.
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
