package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// ChangesDialect reads the table of changes. A snapshot is the text of what is committed at a moment. The
// changes between two snapshots are those that the second has and the first has not.
type ChangesDialect struct {
	// Oldest is a snapshot that has no changes. Snapshot reports whether a text can be one.
	Oldest   string
	Snapshot func(text string) bool
	// State reads the identity of the table, the present snapshot, the last number that was removed
	// because of its age, whether the snapshot $1 has all that were removed, and whether the snapshot
	// $2 is later than the present one. It returns no row if the table is to be renewed.
	State string
	// First reads the changes between the snapshots $1 and $2 of the types $3, by number, at most $4.
	// Next reads those with numbers above $5.
	First, Next string
	// Restored removes the changes of before a restoration, if the database tells.
	Restored string
}

// ChangeColumns are the columns of a row c of changes for a reading, and Unerased is the condition that it
// names nobody who was erased since.
const (
	ChangeColumns = `c.seq, c.at, c.type, c.agent, c.other, c.object, c.parent`
	Unerased      = `NOT EXISTS (SELECT 1 FROM authors a WHERE a.id IN (c.agent, c.other) AND a.erased >= c.at)`
)

// cursorMark begins each cursor; the number is that of its format.
const cursorMark = "c1"

// position is the content of a cursor: a reader has the changes that a snapshot has, and of those between it
// and a second one, if there is one, the changes up to a number.
type position struct {
	identity string
	from, to string
	seq      int64
}

func (p position) String() string {
	if p.to == "" {
		return strings.Join([]string{cursorMark, p.identity, p.from}, ".")
	}
	return strings.Join([]string{cursorMark, p.identity, p.from, p.to, strconv.FormatInt(p.seq, 10)}, ".")
}

var errCursor = feed.Errorf(feed.ErrInvalid, "bad cursor: send the cursor of a change as it was received, %s, or none for from now on", social.FromOldest)

func (d *ChangesDialect) parse(cursor string) (p position, err error) {
	parts := strings.Split(cursor, ".")
	if parts[0] != cursorMark || len(parts) != 3 && len(parts) != 5 {
		return p, errCursor
	}
	p = position{identity: parts[1], from: parts[2]}
	if len(parts) > 3 {
		p.to = parts[3]
		p.seq, err = strconv.ParseInt(parts[4], 10, 64)
		if err != nil || p.seq < 1 || !d.Snapshot(p.to) {
			return p, errCursor
		}
	}
	if p.identity == "" || !d.Snapshot(p.from) {
		return p, errCursor
	}
	return p, nil
}

// errGone is the error of a cursor that does not continue.
func errGone(why string) error {
	return feed.Errorf(feed.ErrGone, "this cursor is not valid any more, as %s: read again what you keep, then begin without a cursor, or with %s for all changes that are kept", why, social.FromOldest)
}

// Changes implements [social.ChangeReader].
func (s *Store) Changes(ctx context.Context, cursor string, types []social.ChangeType, n int) (page social.ChangePage, err error) {
	if s.opts.KeepChanges <= 0 {
		return page, feed.Errorf(feed.ErrForbidden, "no changes are kept: changes.retention is 0")
	}
	if err := social.CheckChangeTypes(types); err != nil {
		return page, err
	}
	p := position{from: s.d.Changes.Oldest}
	if cursor != "" && cursor != social.FromOldest {
		if p, err = s.d.Changes.parse(cursor); err != nil {
			return page, err
		}
	}
	r := changesReading{s.d, p, cursor, types, n}
	err = s.snapshot(ctx, func(q *Query) { page = r.run(q) })
	if errors.Is(err, errRenew) {
		if err = s.write(ctx, func(t *Tx) { t.renewChanges() }); err == nil {
			err = s.snapshot(ctx, func(q *Query) { page = r.run(q) })
		}
	}
	return page, s.failed(ctx, "read changes", err)
}

// errRenew says that the table of changes has no identity.
var errRenew = fmt.Errorf("%w: the table of changes has no identity yet", social.ErrUnavailable)

type changesReading struct {
	d      *Dialect
	at     position
	cursor string
	types  []social.ChangeType
	n      int
}

// run reads a page, with its cursors.
func (r changesReading) run(q *Query) (page social.ChangePage) {
	var identity, now string
	var removed int64
	var whole, ahead bool
	d, p := &r.d.Changes, r.at
	latest := p.to
	if latest == "" {
		latest = p.from
	}
	found := q.row(into(&identity, &now, &removed, &whole, &ahead), d.State, p.from, latest)
	switch {
	case q.err != nil:
		return page
	case !found:
		q.fail(errRenew)
		return page
	case r.cursor == "":
		page.Next = position{identity: identity, from: now}.String()
		return page
	case r.cursor == social.FromOldest:
		p.identity = identity
	case p.identity != identity || ahead:
		q.fail(errGone("it is of another database, or changes were not kept in the meantime"))
		return page
	case !whole && p.seq < max(removed, 1):
		q.fail(errGone("changes after it were removed, which changes.retention keeps no longer"))
		return page
	}
	if p.to == "" {
		p.to = now
	}
	return r.read(q, p)
}

func (r changesReading) read(q *Query, p position) (page social.ChangePage) {
	types := r.types
	if len(types) == 0 {
		types = social.ChangeTypes()
	}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	text, args := r.d.Changes.First, []any{p.from, p.to, names, r.n}
	if p.seq > 0 {
		text, args = r.d.Changes.Next, append(args, p.seq)
	}
	q.each(func(scan Scan) error {
		var c social.Change
		err := scan(&p.seq, &c.At, &c.Type, &c.Agent, &c.Other, &c.Object, &c.Parent)
		c.Cursor = p.String()
		page.Changes = append(page.Changes, c)
		return err
	}, text, args...)
	got := len(page.Changes)
	page.More = got == r.n || r.at.to != ""
	if got == r.n {
		page.Next = p.String()
		return page
	}
	page.Next = position{identity: p.identity, from: p.to}.String() // nothing is left between the snapshots
	if got > 0 {
		page.Changes[got-1].Cursor = page.Next
	}
	return page
}

// change notes a change, which is written with the commit. Of what an erasure changes, only the end of
// posts is noted, without the agent's name.
func (t *Tx) change(c social.Change) {
	if t.erasing != "" {
		switch {
		case c.Type == social.PostEnded && c.Agent == t.erasing:
			c.Agent = ""
		case c.Agent == t.erasing, c.Other == t.erasing:
			return
		}
	}
	t.changes = append(t.changes, c)
}

// writeChanges writes the changes of the transaction, after all others of it: so it has the locks of
// everything that they are about, and their numbers follow the order of the changes of one thing.
func (t *Tx) writeChanges() {
	switch {
	case len(t.changes) == 0:
	case t.opts.KeepChanges <= 0 && !t.unkept:
		// No cursor continues over a change that was not kept.
		t.later(`UPDATE changes_state SET epoch = '' WHERE one AND epoch <> ''`)
	case t.opts.KeepChanges <= 0:
	case len(t.changes) == 1:
		t.writeChange(t.changes[0])
	default:
		n := len(t.changes)
		types, agents, others, objects, parents := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		for i, c := range t.changes {
			types[i], agents[i], others[i], objects[i], parents[i] = string(c.Type), c.Agent, c.Other, c.Object, c.Parent
		}
		t.later(`INSERT INTO changes (at, type, agent, other, object, parent)
			SELECT greatest($1::bigint, coalesce((SELECT max(a.erased) + 1 FROM authors a WHERE a.id IN (
				CASE WHEN d.type IN ('post.updated', 'post.deleted') THEN '' ELSE d.agent END, CASE WHEN d.object = '' THEN d.other ELSE '' END)), 0)), d.*
			FROM unnest((SELECT $2::text[]), (SELECT $3::text[]), (SELECT $4::text[]), (SELECT $5::text[]), (SELECT $6::text[])) d (type, agent, other, object, parent) WHERE true`,
			social.Stamp(t.now), Table{types, agents, others, objects, parents})
	}
}

// writeChange writes the only change of a transaction, by a statement whose plan PostgreSQL keeps: that of
// a list it makes anew each time. The change is later than the erasures of agents whose rows are locked,
// whatever the clocks: else it would be taken for one of before.
func (t *Tx) writeChange(c social.Change) {
	agent, other := c.Agent, ""
	if c.Type == social.PostEdited || c.Type == social.PostEnded {
		agent = ""
	}
	if c.Object == "" {
		other = c.Other
	}
	t.later(`INSERT INTO changes (at, type, agent, other, object, parent)
		VALUES (greatest($1::bigint, coalesce((SELECT max(a.erased) + 1 FROM authors a WHERE a.id IN ($2, $3)), 0)), $4, $5, $6, $7, $8)`,
		social.Stamp(t.now), agent, other, string(c.Type), c.Agent, c.Other, c.Object, c.Parent)
}

// renewChanges begins with new cursors, after changes were not kept, or a restoration.
func (t *Tx) renewChanges() {
	if t.d.Changes.Restored != "" {
		t.exec(t.d.Changes.Restored)
	}
	t.exec(Either(`INSERT INTO changes_state AS s (one, trimmed, epoch, trimmed_xid, home) VALUES (true, 0, left(gen_random_uuid()::text, 8), '0', 'changes_state'::regclass::oid::text)
			ON CONFLICT (one) DO UPDATE SET trimmed = 0, trimmed_xid = '0', epoch = excluded.epoch, home = excluded.home WHERE s.epoch = '' OR s.home <> excluded.home`,
		`INSERT INTO changes_state AS s (one, trimmed, epoch) VALUES (1, 0, lower(hex(randomblob(4))))
			ON CONFLICT (one) DO UPDATE SET trimmed = 0, epoch = excluded.epoch WHERE s.epoch = ''`))
}

// purgeChanges removes at most n changes that are older than they are kept, in the order of their numbers:
// all of those before the first that is not.
func (t *Tx) purgeChanges(n int) int {
	last := t.endOfOldChanges(n)
	if last == 0 {
		return 0
	}
	t.exec(`UPDATE changes_state SET trimmed = greatest(trimmed, $1::bigint)`+
		Either(`, trimmed_xid = greatest(trimmed_xid, (SELECT x.xid FROM (SELECT xid, seq FROM changes ORDER BY seq LIMIT $2) x WHERE x.seq <= $1 ORDER BY x.xid DESC LIMIT 1))`, ``)+
		` WHERE one AND $2 > 0`, last, n)
	return int(t.exec(deleting(`seq`, `changes x WHERE seq <= $1 ORDER BY seq LIMIT $2`), last, n))
}

// endOfOldChanges returns the number of the last of the first n changes that may be removed, 0 if none may.
//
// Numbers are in the order of the writes and times are not, if the clock of a server was wrong for a while.
// A row that says too early a time waits for the rows before it. One that says a time to come, from a clock
// that was ahead, holds nobody up: it is as old as the rows after it.
func (t *Tx) endOfOldChanges(n int) (last int64) {
	over, now := social.Stamp(t.now.Add(-t.opts.KeepChanges)), social.Stamp(t.now)
	var first int64
	if !t.row(into(&first), firstChangeText, now) || first > over {
		return 0
	}
	var end int64
	t.row(into(&end, &last), oldChangesText, n, over, now)
	if end == 0 { // of all of them the times are to come: those after them are old
		t.row(into(&last), lastOfChangesText, n)
	}
	return last
}

// Statements of the removal of changes. The first returns the time of the first change that says no time
// after $1. The second reads the first $1 changes: end counts those whose time has come, last is the number of
// the last that is from before $2, with none from between $2 and $3 before it. The third returns the number
// of the last of them.
const (
	firstChangeText   = `SELECT x.at FROM changes x WHERE x.at <= $1 ORDER BY x.seq LIMIT 1`
	firstChanges      = `(SELECT seq, at FROM changes ORDER BY seq LIMIT $1)`
	lastOfChangesText = `SELECT coalesce(max(x.seq), 0) FROM ` + firstChanges + ` x`
	oldChangesText    = `SELECT count(CASE WHEN x.at <= $3 THEN 1 END), coalesce(max(CASE WHEN x.at <= $2
			AND x.seq < coalesce((SELECT min(y.seq) FROM ` + firstChanges + ` y WHERE y.at > $2 AND y.at <= $3), x.seq + 1) THEN x.seq END), 0)
		FROM ` + firstChanges + ` x`
)

// changes removes what names the agent.
func (e *eraser) changes(t *Tx) int {
	n := t.exec(`DELETE FROM changes WHERE seq IN (SELECT c.seq FROM changes c WHERE c.agent = $1 AND c.at <= $2 LIMIT $3)`, e.agent, e.at.card, e.budget)
	n += t.exec(`DELETE FROM changes WHERE seq IN (SELECT c.seq FROM changes c WHERE c.other = $1 AND c.other <> '' AND c.at <= $2 LIMIT $3)`, e.agent, e.at.card, e.budget)
	return int(n)
}
