package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// Report implements [social.Moderation].
func (s *Store) Report(ctx context.Context, r social.Report) (changed bool, err error) {
	if err := r.Check(); err != nil {
		return false, err
	}
	if r.Kind == social.ObjectAuthor { // also one whom the agent blocks
		if _, err := s.Author(ctx, r.Agent, r.ID); err != nil {
			return false, err
		}
	}
	err = s.write(ctx, func(t *Tx) {
		erased := t.agent(doing, r.Agent).ErasedAgent
		if !t.mayReport(&r) {
			t.fail(fmt.Errorf("%s: %w", r.ID, feed.ErrNotFound))
			return
		}
		at := max(social.Stamp(t.now), erased+1)
		changed = t.exec(`INSERT INTO reports (kind, object, agent, reason, details, at) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
			string(r.Kind), r.ID, r.Agent, string(r.Reason), r.Details, at) > 0
		if !changed {
			return
		}
		t.exec(`INSERT INTO reported AS k (kind, object, open, latest, decision, decided) VALUES ($1, $2, true, $3, '', 0)
			ON CONFLICT (kind, object) DO UPDATE SET open = true, latest = greatest(k.latest, excluded.latest)`, string(r.Kind), r.ID, at)
		c := social.Change{Type: social.ReportMade, Agent: r.Agent, Object: r.ID}
		if r.Kind == social.ObjectAuthor {
			c.Other, c.Object = r.ID, ""
		}
		t.change(c)
	})
	return changed && err == nil, s.failed(ctx, "report", err)
}

// mayReport reports whether an agent may see what it reports.
func (t *Tx) mayReport(r *social.Report) bool {
	switch r.Kind {
	case social.ObjectPost:
		return t.facts(r.Agent, r.ID).decide().Visible
	case social.ObjectCircle:
		c, _, err := t.circleFor(r.ID, r.Agent)
		return err == nil && c.Open()
	}
	return true
}

// decideReports marks the reports about an object as decided, and reports whether some were open. An action that has
// changed the object is the decision also of reports that were decided before.
func (t *Tx) decideReports(m social.Moderate, changed bool) bool {
	const decide = `UPDATE reported SET open = false, decision = $3, decided = $4 WHERE kind = $1 AND object = $2`
	args := []any{string(m.Object.Kind), m.Object.ID, string(m.Action), t.now.Unix()}
	opened := t.exec(decide+` AND open`, args...) > 0
	if changed && !opened {
		t.exec(decide, args...)
	}
	return opened
}

// reportsFrom are the columns of reported objects, except their reports.
const reportedColumns = `SELECT k.kind, k.object, k.open, k.latest, k.decision, k.decided FROM reported k`

// Reported implements [social.Moderation].
func (s *Store) Reported(ctx context.Context, ask social.ReportedQuery) (page social.ReportedPage, err error) {
	after, err := parseReported(ask.After)
	if err != nil {
		return page, err
	}
	page.Objects = []social.ReportedObject{}
	err = s.snapshot(ctx, func(q *Query) {
		page = social.ReportedPage{Objects: []social.ReportedObject{}}
		var latest []int64
		q.each(func(scan Scan) error {
			var o social.ReportedObject
			var at int64
			err := scan(&o.Kind, &o.ID, &o.Open, &at, &o.Decision, &o.DecidedAt)
			o.Latest, latest = at/1e6, append(latest, at)
			page.Objects = append(page.Objects, o)
			return err
		}, reportedColumns+` WHERE k.open = (0 < $1) AND (k.latest, k.kind, k.object) < ($2, $3, $4)
			ORDER BY k.latest DESC, k.kind DESC, k.object DESC LIMIT $5`, boolean(!ask.Decided), after.at, string(after.Kind), after.ID, ask.N+1)
		if len(page.Objects) > ask.N {
			page.Objects = page.Objects[:ask.N]
			last := page.Objects[ask.N-1]
			cursor := reportedPosition{latest[ask.N-1], last.Object}.String()
			page.NextCursor = &cursor
		}
		for i := range page.Objects {
			q.readReports(&page.Objects[i])
		}
	})
	return page, s.failed(ctx, "read reports", err)
}

// readReports reads what was reported about an object.
func (q *Query) readReports(o *social.ReportedObject) {
	o.Reasons = map[social.ReportReason]int{}
	mapOf(q, o.Reasons, `SELECT reason, count(*) FROM reports WHERE kind = $1 AND object = $2 GROUP BY reason`, string(o.Kind), o.ID)
	o.Count = 0
	for _, n := range o.Reasons {
		o.Count += n
	}
	o.Reports = rowsOf(q, func(r *social.Report) []any {
		r.Object = o.Object
		return into(&r.Agent, &r.Reason, &r.Details, &r.At)
	}, `SELECT agent, reason, details, at / 1000000 FROM reports WHERE kind = $1 AND object = $2 ORDER BY at DESC, agent LIMIT $3`,
		string(o.Kind), o.ID, social.MaxReportsShown)
}

// reportedPosition is the place of an object in the list of reported ones.
type reportedPosition struct {
	at int64
	social.Object
}

func (p reportedPosition) String() string {
	return strconv.FormatInt(p.at, 10) + ":" + string(p.Kind) + ":" + p.ID
}

func parseReported(cursor string) (p reportedPosition, err error) {
	if cursor == "" {
		return reportedPosition{at: 1<<63 - 1}, nil
	}
	at, rest, _ := strings.Cut(cursor, ":")
	kind, id, _ := strings.Cut(rest, ":")
	p.at, err = strconv.ParseInt(at, 10, 64)
	p.Object = social.Object{Kind: social.ObjectKind(kind), ID: id}
	if err != nil || p.Check() != nil {
		return p, feed.Errorf(feed.ErrInvalid, "bad cursor %.80q: send the next_cursor of an earlier answer", cursor)
	}
	return p, nil
}

// eraseReports removes reports by the agent, and about the agent and posts of theirs.
func (e *eraser) reports(t *Tx) int {
	var keys [2][]string
	t.each(func(scan Scan) error {
		var kind, object string
		err := scan(&kind, &object)
		keys[0], keys[1] = append(keys[0], kind), append(keys[1], object)
		return err
	}, `SELECT kind, object FROM reports WHERE agent = $1 AND at <= $2 LIMIT $3`, e.agent, e.at.rest, e.budget)
	for i := range keys[0] {
		t.exec(`DELETE FROM reports WHERE kind = $1 AND object = $2 AND agent = $3`, keys[0][i], keys[1][i], e.agent)
		t.exec(dropUnreported, keys[0][i], keys[1][i])
	}
	n := t.exec(`DELETE FROM reports WHERE kind = 'author' AND object = $1 AND at <= $2`, e.agent, e.at.rest)
	t.exec(dropUnreported, string(social.ObjectAuthor), e.agent)
	return len(keys[0]) + int(n)
}

// dropUnreported removes an object that nobody reports any more.
const dropUnreported = `DELETE FROM reported WHERE kind = $1 AND object = $2
	AND NOT EXISTS (SELECT 1 FROM reports r WHERE r.kind = $1 AND r.object = $2)`

// forgetReports removes the reports about posts of an erased author, and the reasons of what moderators have done
// about them.
func (t *Tx) forgetReports(posts []string) {
	t.later(`UPDATE audit SET reason = '' WHERE kind = 'post' AND object = ANY ($1) AND reason <> ''`, posts)
	t.later(`DELETE FROM reports WHERE kind = 'post' AND object = ANY ($1)`, posts)
	t.later(`DELETE FROM reported WHERE kind = 'post' AND object = ANY ($1)`, posts)
}

// purgeReports removes the reports about at most n objects that were decided longer ago than reports are kept.
// An object that is reported again meanwhile is open, and keeps all of them.
func (t *Tx) purgeReports(n int) int {
	if t.opts.KeepReports <= 0 {
		return 0
	}
	over := t.now.Add(-t.opts.KeepReports)
	var all []social.Object
	t.each(func(scan Scan) error {
		var o social.Object
		err := scan(&o.Kind, &o.ID)
		all = append(all, o)
		return err
	}, oldReportsText, social.Stamp(over), over.Unix(), min(n, social.ReportsPurgedAtOnce))
	for _, o := range all {
		t.later(`DELETE FROM reports WHERE kind = $1 AND object = $2`, string(o.Kind), o.ID)
		t.later(`DELETE FROM reported WHERE kind = $1 AND object = $2`, string(o.Kind), o.ID)
	}
	return len(all)
}

// oldReportsText selects objects that were decided up to $2, in seconds. Reports are earlier than their
// decision, so the index by their time leads to the rows. It locks them, so that they are not opened again meanwhile.
const oldReportsText = `SELECT k.kind, k.object FROM reported k WHERE k.open = (0 < 0) AND k.latest <= $1 AND k.decided > 0 AND k.decided <= $2
	ORDER BY k.latest LIMIT $3 FOR UPDATE SKIP LOCKED`
