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

// mutes is the condition that an agent has muted something.
func mutes(agent string, kind social.MuteKind, id string) string {
	return `EXISTS (SELECT 1 FROM mutes mu WHERE mu.agent = ` + agent + ` AND mu.kind = '` + string(kind) + `' AND mu.id = ` + id + ` OFFSET 0)`
}

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
func (q *Query) muted(circle, agent string) (muted bool) {
	q.row(into(&muted), `SELECT `+mutes("$1", social.MuteCircle, "$2"), agent, circle)
	return muted
}

// Mute implements [social.Circles].
func (s *Store) Mute(ctx context.Context, agent string, kind social.MuteKind, id string) (bool, error) {
	return s.setMuted(ctx, agent, kind, id, true)
}

// Unmute implements [social.Circles].
func (s *Store) Unmute(ctx context.Context, agent string, kind social.MuteKind, id string) (bool, error) {
	return s.setMuted(ctx, agent, kind, id, false)
}

func (s *Store) setMuted(ctx context.Context, agent string, kind social.MuteKind, id string, on bool) (changed bool, err error) {
	if err := kind.Check(agent, id); err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *Tx) {
		t.lockAgents(changing, agent) // so that concurrent calls do not exceed the limit
		if on {
			changed = t.mute(agent, kind, id)
		} else {
			changed = t.exec(`DELETE FROM mutes WHERE agent = $1 AND kind = $2 AND id = $3`, agent, string(kind), id) > 0
		}
		if changed && kind == social.MuteCircle {
			t.membersChanged(id, []string{agent}, jobs.PrioritySoon)
		}
	})
	return changed && err == nil, s.failed(ctx, "mute", err)
}

func (t *Tx) mute(agent string, kind social.MuteKind, id string) (changed bool) {
	var n int
	t.row(into(&n), `SELECT count(*) FROM mutes WHERE agent = $1 AND kind = $2 AND id <> $3`, agent, string(kind), id)
	if n >= feed.MaxMutes {
		return t.fail(feed.Errorf(feed.ErrLimit, "the limit of %d is reached; unmute one first", feed.MaxMutes))
	}
	return t.exec(`INSERT INTO mutes (agent, kind, id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, agent, string(kind), id) > 0
}

// Muted implements [social.Circles].
func (s *Store) Muted(ctx context.Context, agent string, kind social.MuteKind, after string, n int) ([]string, error) {
	return s.page(ctx, `SELECT id FROM mutes WHERE agent = $1 AND kind = $4 AND id > $2 ORDER BY id LIMIT $3`, agent, after, n, string(kind))
}
