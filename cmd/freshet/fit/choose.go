package fit

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server/history"
)

// PerDay is the number of a reader's clicks of one day (UTC) that are scored at most, so that those who
// read much on one evening do not decide.
const PerDay = 2

// warmUp is the part of all clicks, the first ones, that is not scored: nothing is popular yet then, and
// nothing learned.
const warmUp = 0.1

// Choose returns the indices of the clicks to score, ascending, at most so many: first clicks of a reader
// on items that were candidates then. Of more on a day, and of more in all, it takes some at random,
// always the same.
func Choose(c *history.Community, window time.Duration, most int) []int {
	past := history.NewPast(c.Items, window)
	var found []int
	for i := range c.Clicks {
		click := &c.Clicks[i]
		it := &c.Items[click.Item]
		age := click.At - it.UpdateTime
		fits := age > 0 && age <= int64(window.Seconds()) && !it.By(click.Reader)
		if fits && i >= int(warmUp*float64(len(c.Clicks))) && past.IsFirst(click.Reader, click.Item) {
			found = append(found, i)
		}
		if !it.By(click.Reader) {
			past.Add(click.Reader, click.Item)
		}
	}
	order := func(i int) uint64 { return hashOf(c.Clicks[i].Reader, c.Items[c.Clicks[i].Item].ID, c.Clicks[i].At) }
	slices.SortFunc(found, func(a, b int) int { return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a, b)) })
	perDay := map[string]int{}
	found = slices.DeleteFunc(found, func(i int) bool {
		day := feed.DayOf(time.Unix(c.Clicks[i].At, 0))
		key := c.Clicks[i].Reader + " " + strconv.Itoa(int(day))
		perDay[key]++
		return perDay[key] > PerDay
	})
	found = found[:min(len(found), most)]
	slices.Sort(found)
	return found
}

func hashOf(reader, item string, at int64) uint64 {
	h := fnv.New64a()
	h.Write([]byte(reader))
	h.Write([]byte{0})
	h.Write([]byte(item))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(at)))
	return h.Sum64()
}
