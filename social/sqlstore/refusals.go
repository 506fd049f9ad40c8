package sqlstore

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// refuse stores that an agent does not want to be invited by the owner of a circle for a while: to
// one group, or to any if group is "".
func (t *Tx) refuse(agent string, c *circle, group string) {
	erased := t.agents(doing, agent, c.Owner)[agent].ErasedAgent
	at := social.ChangeTime(time.Time{}, t.now, max(erased, c.erased))
	t.later(`INSERT INTO refusals (agent, owner, circle, at) VALUES ($1, $2, $3, $4) ON CONFLICT (agent, owner, circle) DO UPDATE SET at = excluded.at`,
		agent, c.Owner, group, at)
}

// refuses reports whether an agent has refused invitations by the owner of a circle to it, within
// [social.RefusalLives].
func (t *Tx) refuses(agent string, c *circle) (refused bool) {
	since := social.Stamp(t.now.Add(-social.RefusalLives))
	t.row(into(&refused), `SELECT EXISTS (SELECT 1 FROM refusals WHERE agent = $1 AND owner = $2 AND circle IN ('', $3) AND at > $4
		AND at > (SELECT coalesce(max(e.erased_agent), 0) FROM authors e WHERE e.id IN ($1, $2)))`, agent, c.Owner, c.ID, since)
	return refused
}

// refusals removes what the agent has refused, and the refusals of others by which the agent cannot
// invite them.
func (e *eraser) refusals(t *Tx) int {
	others := e.some(t, `SELECT agent FROM refusals WHERE owner = $1 AND at <= $2`, e.at.rest)
	n := t.exec(`DELETE FROM refusals WHERE owner = $1 AND at <= $2 AND agent = ANY ($3)`, e.agent, e.at.rest, others)
	return int(n + t.exec(`DELETE FROM refusals WHERE agent = $1 AND at <= $2`, e.agent, e.at.rest))
}

// mutes is the condition that an agent has muted something without an end. Lists keep the posts of a
// group that is muted for a time, so that they are there when it ends; see [muteEnd].
func mutes(agent string, kind social.MuteKind, id string) string {
	return `EXISTS (SELECT 1 FROM mutes mu WHERE mu.agent = ` + agent + ` AND mu.kind = '` + string(kind) + `' AND mu.id = ` + id + ` AND mu.until = 0 OFFSET 0)`
}

// mutesAt is mutes for a kind of mutes that may end, at a stamp.
func mutesAt(agent string, kind social.MuteKind, id, at string) string {
	return `EXISTS (SELECT 1 FROM mutes mu WHERE mu.agent = ` + agent + ` AND mu.kind = '` + string(kind) + `' AND mu.id = ` + id + ` AND (mu.until = 0 OR mu.until > ` + at + `) OFFSET 0)`
}

// muteEnd selects the stamp at which an agent's mute of a circle ends: 0 means never, [notMuted] that
// there is none. The reader's clock decides whether it has ended, see [mutedAt].
func muteEnd(agent, circle string) string {
	return `coalesce((SELECT mu.until FROM mutes mu WHERE mu.agent = ` + agent + ` AND mu.kind = '` + string(social.MuteCircle) + `' AND mu.id = ` + circle + `), -1)`
}

// notMuted is the end of no mute.
const notMuted = -1

// mutedAt reports whether a mute with an end applies at a stamp.
func mutedAt(until, now int64) bool { return until == 0 || until > now }

// hearsInviter is the condition that an agent has not muted the owner of a circle c.
func hearsInviter(agent string) string {
	return ` NOT ` + mutes(agent, social.MuteInviter, "c.owner")
}

// mutedGroup is the condition that an agent has muted the circle of their membership m. Nobody can
// mute a plain circle, or they would learn of it.
func mutedGroup(agent string) string {
	return `m.since > 0 AND ` + mutes(agent, social.MuteCircle, "m.circle")
}

// muted reports whether an agent has muted a circle.
func (q *Query) muted(circle, agent string) bool {
	until := int64(notMuted)
	q.row(into(&until), `SELECT `+muteEnd("$1", "$2"), agent, circle)
	return mutedAt(until, social.Stamp(q.clock()))
}

// Mute implements [social.Circles].
func (s *Store) Mute(ctx context.Context, agent string, kind social.MuteKind, id string, until time.Time) (bool, error) {
	if kind != social.MuteCircle && !until.IsZero() {
		return false, feed.Errorf(feed.ErrInvalid, "a mute of the kind %q has no end", kind)
	}
	return s.setMuted(ctx, agent, kind, id, func(t *Tx) bool { return t.mute(agent, kind, id, until) })
}

// Unmute implements [social.Circles].
func (s *Store) Unmute(ctx context.Context, agent string, kind social.MuteKind, id string) (bool, error) {
	return s.setMuted(ctx, agent, kind, id, func(t *Tx) bool {
		return t.exec(`DELETE FROM mutes WHERE agent = $1 AND kind = $2 AND id = $3`, agent, string(kind), id) > 0
	})
}

// setMuted makes a change of mutes, after it has removed those of the agent that have ended.
func (s *Store) setMuted(ctx context.Context, agent string, kind social.MuteKind, id string, set func(*Tx) bool) (changed bool, err error) {
	if err := kind.Check(agent, id); err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *Tx) {
		t.lockAgents(changing, agent) // so that concurrent calls do not exceed the limit
		t.exec(`DELETE FROM mutes WHERE agent = $1 AND until > 0 AND until <= $2`, agent, social.Stamp(t.now))
		changed = set(t)
		if changed && kind == social.MuteCircle {
			t.membersChanged(id, []string{agent}, jobs.PrioritySoon)
		}
	})
	return changed && err == nil, s.failed(ctx, "mute", err)
}

func (t *Tx) mute(agent string, kind social.MuteKind, id string, until time.Time) (changed bool) {
	var n int
	t.row(into(&n), `SELECT count(*) FROM mutes WHERE agent = $1 AND kind = $2 AND id <> $3`, agent, string(kind), id)
	if n >= feed.MaxMutes {
		return t.fail(feed.Errorf(feed.ErrLimit, "the limit of %d is reached; unmute one first", feed.MaxMutes))
	}
	end := int64(0)
	if !until.IsZero() {
		end = social.Stamp(until)
	}
	return t.exec(`INSERT INTO mutes (agent, kind, id, until) VALUES ($1, $2, $3, $4)
		ON CONFLICT (agent, kind, id) DO UPDATE SET until = excluded.until WHERE mutes.until <> excluded.until`, agent, string(kind), id, end) > 0
}

// Muted implements [social.Circles].
func (s *Store) Muted(ctx context.Context, agent string, kind social.MuteKind, after string, n int) (list []social.Mute, err error) {
	err = s.read(ctx, func(q *Query) {
		q.each(func(scan Scan) error {
			var m social.Mute
			var until int64
			err := scan(&m.ID, &until)
			if until > 0 {
				m.Until = time.UnixMicro(until).UTC()
			}
			list = append(list, m)
			return err
		}, `SELECT id, until FROM mutes WHERE agent = $1 AND kind = $4 AND id > $2 AND (until = 0 OR until > $5) ORDER BY id LIMIT $3`,
			agent, after, n, string(kind), social.Stamp(q.clock()))
	})
	return list, s.failed(ctx, "list mutes", err)
}
