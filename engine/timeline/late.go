package timeline

import (
	"context"
	"slices"
	"time"

	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
	lists "github.com/freshet/freshet/social/timeline"
)

const (
	// lateKept is for how long after their arrival late posts are checked for watches whose timeline
	// has not changed yet: their jobs may be waiting.
	lateKept = 5 * time.Minute
	// changedFor is for how long after a change of its timeline a watch is checked for late posts: its
	// list may change before they are read. A reader whom they do not concern costs nothing then.
	changedFor = 30 * time.Second
	// mostLate is how many late posts one statement reads.
	mostLate = 500
)

// lateWindow has the posts that have arrived late in the last [lateKept], for all watches, in the
// order of their arrival. It is not modified.
type lateWindow struct {
	posts []social.LatePost
	from  int64 // posts that arrived after it are here
	upTo  int64 // and up to it; 0 if the store could not be read yet
}

// readLate reads the posts that have arrived since the last call. Without the store there are none:
// the next call continues.
func (w *Watcher) readLate(ctx context.Context) lateWindow {
	w.lateMu.Lock()
	defer w.lateMu.Unlock()
	more, upTo, err := w.stores.Posts.Late(ctx, w.late.upTo, mostLate)
	if err == nil {
		from := max(w.late.from, upTo-lateKept.Microseconds())
		all := slices.Concat(w.late.posts, more)
		all = slices.DeleteFunc(all, func(p social.LatePost) bool { return p.Arrived <= from })
		w.late = lateWindow{all, from, upTo}
	}
	return w.late
}

// after returns the posts that arrived after a stamp.
func (l *lateWindow) after(arrived int64) []social.LatePost {
	i, _ := slices.BinarySearchFunc(l.posts, arrived, func(p social.LatePost, at int64) int {
		if p.Arrived <= at {
			return -1
		}
		return 1
	})
	return l.posts[i:]
}

// lateNews notifies the watches whose timelines have changed since late posts arrived. Whether a post
// is in the timeline is left to the store.
func (r *round) lateNews(ctx context.Context) error {
	if r.late.upTo == 0 {
		return nil
	}
	var offers []offer
	asked := 0
	for _, w := range r.watches {
		if w.resumes {
			if err := r.resume(ctx, w); err != nil {
				return err
			}
		}
		if w.arrived == 0 { // it began without the store
			w.arrived = r.late.upTo
		}
		waiting := r.late.after(w.arrived)
		switch {
		case len(waiting) == 0:
			w.arrived = r.late.upTo
		case w.pulled.Server || r.now.Sub(w.changed) < changedFor:
			offers, asked = append(offers, lateOffer(w, waiting, r.late.upTo)), asked+len(waiting)
		}
		if asked >= postsPerQuery {
			if err := r.notifyOffers(ctx, offers); err != nil {
				return err
			}
			offers, asked = nil, 0
		}
	}
	return r.notifyOffers(ctx, offers)
}

// resume notifies a watch of the posts that have arrived late since an earlier watch.
func (r *round) resume(ctx context.Context, w *Watch) error {
	waiting, upTo := r.late.after(w.arrived), r.late.upTo
	if w.arrived < r.late.from || upTo == 0 {
		var err error
		if waiting, upTo, err = r.w.stores.Posts.Late(ctx, w.arrived, mostLate); err != nil {
			return err
		}
	}
	if err := r.notifyOffers(ctx, []offer{lateOffer(w, waiting, upTo)}); err != nil {
		return err
	}
	w.arrived, w.resumes = upTo, false
	return nil
}

func lateOffer(w *Watch, waiting []social.LatePost, upTo int64) offer {
	posts := convert.Each(waiting, func(p social.LatePost) lists.Position { return p.Position })
	return offer{Watch: w, posts: posts, late: true, upTo: upTo}
}
