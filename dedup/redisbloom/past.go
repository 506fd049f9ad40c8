package redisbloom

import (
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// PastDays answers checks about days that are over in this process, so that
// Redis need not be asked. The package mirror implements it.
type PastDays interface {
	// Find looks the members of one agent (see [dedup.Impression.Member]) up in
	// the copies of days, which begin with today; today and later days have
	// none. It calls no service and never fails: a day without a copy is left
	// to Redis. A copy answers exactly as its filter does. Safe for concurrent use.
	Find(agent string, days []feed.Day, members []string) Found
}

// Found is what the copies hold. Its zero value says that there are none.
type Found struct {
	Copies []Copied // one per day, in order
	// In has, per member, the index of the latest day whose copy holds it; 0,
	// today's, where none does.
	In []uint8
}

// Copied is what there is of one day; the zero value: no copy.
type Copied struct {
	Shards  int  // filters the day is spread over
	Partial bool // Redis has begun a new filter since: it is asked too
}

// shards is the number of filters of a day that is copied, else 0.
func (f Found) shards(i int) int {
	if f.Copies == nil {
		return 0
	}
	return f.Copies[i].Shards
}

// complete reports whether Redis need not be asked about a day.
func (f Found) complete(i int) bool { return f.shards(i) > 0 && !f.Copies[i].Partial }

// mark adds what the copies hold to what Redis answered; the latest day wins.
func (f Found) mark(verdicts []dedup.Verdict, q *question) {
	for i, day := range f.In {
		if day == 0 {
			continue
		}
		if is := q.verdict(int(day)); verdicts[i] == dedup.Unseen || is < verdicts[i] {
			verdicts[i] = is
		}
	}
}
