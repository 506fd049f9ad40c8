package catalog

import (
	"context"
	"encoding/json"
	"time"

	"github.com/freshet/freshet/feed"
)

// LearnedAge says when an agent has acted last, of what was learned about them.
type LearnedAge struct {
	Agent string
	At    int64 // Unix seconds
	Acts  bool  // acts are remembered
}

// LearnedAgeOf reads a stored record, of which only this part needs to be there. It returns false if nothing
// was learned, or if the record is damaged.
func LearnedAgeOf(agent string, record []byte) (LearnedAge, bool) {
	var r struct {
		Learning struct {
			At   int64  `json:"at"`
			Acts string `json:"acts"`
		} `json:"learning"`
	}
	err := json.Unmarshal(record, &r)
	return LearnedAge{Agent: agent, At: r.Learning.At, Acts: r.Learning.Acts != ""}, err == nil && r.Learning.At > 0
}

// LearnedAges lists what was learned about agents.
type LearnedAges interface {
	// LearnedAges returns about n of the stored records, those after a position ("" for the first), and
	// the position after them, "" at the end. A record that is written meanwhile may be left out or
	// listed twice. Errors wrap [ErrUnavailable].
	LearnedAges(ctx context.Context, after string, n int) (list []LearnedAge, next string, err error)
}

const (
	// learnedPage is the number of records of a step.
	learnedPage = 2000
	// learnedPause is the time from the begin of a pass over all records to that of the next.
	learnedPause = 24 * time.Hour
)

// LearnedRetention removes what was learned about readers who have not acted for long. Their declared
// profiles stay. It is not safe for concurrent use.
type LearnedRetention struct {
	list     LearnedAges
	profiles Profiles
	cfg      RetentionConfig

	after string    // position in the present pass
	began time.Time // of the last pass
}

// NewLearnedRetention returns a retention that changes the records found by list through profiles. With
// Keep 0, only acts are removed that are not remembered any more.
func NewLearnedRetention(list LearnedAges, profiles Profiles, cfg RetentionConfig) *LearnedRetention {
	return &LearnedRetention{list: list, profiles: profiles, cfg: cfg}
}

// Step looks at some records and returns how many it has changed; more reports that the pass over all of
// them has not ended. A pass begins a day after the last one began. After an error the next step repeats this one.
func (r *LearnedRetention) Step(ctx context.Context) (changed int, more bool, err error) {
	now, err := r.cfg.now(ctx)
	if err != nil {
		return 0, false, err
	}
	if r.after == "" {
		if now.Sub(r.began).Abs() < learnedPause {
			return 0, false, nil
		}
		r.began = now
	}
	list, next, err := r.list.LearnedAges(ctx, r.after, learnedPage)
	if err == nil {
		changed, err = r.expire(ctx, list, now)
	}
	if err != nil {
		if r.after == "" {
			r.began = time.Time{}
		}
		return changed, false, err
	}
	r.after = next
	return changed, next != "", nil
}

// expire removes what has expired of the listed records.
func (r *LearnedRetention) expire(ctx context.Context, list []LearnedAge, now time.Time) (changed int, err error) {
	for _, one := range list {
		known := feed.Learning{At: one.At}
		if one.Acts {
			known.Acts = feed.ActMemory{0}
		}
		if !known.Expire(now, r.cfg.Keep) {
			continue
		}
		err := r.profiles.Learn(ctx, one.Agent, func(l *feed.Learning) bool { return l.Expire(now, r.cfg.Keep) })
		if err != nil {
			return changed, err
		}
		changed++
	}
	return changed, nil
}
