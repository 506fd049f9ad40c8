// Package redislist stores sessions in Redis: one list per agent and feed, paged by scripts that
// change the session, the agent's pending set and the retry record atomically. It requires Redis
// 6.2 or newer.
package redislist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/rediskeys"
)

// Config configures Sessions. Zero values mean the defaults.
type Config struct {
	KeyPrefix  string        // prepended to every key
	TTL        time.Duration // how long a session lives after its refresh; 30m
	PendingTTL time.Duration // pending entries older than this no longer count; 7 days
	// Grace is how long a served group stays pending after it was confirmed in a filter; a page based
	// on a check at least that old is refused; 10s.
	Grace time.Duration
	// Replicas is the number of replicas that must have a page's entries before the page is handed
	// out; the zero value waits for none.
	Replicas rediskeys.Replicas
	Logger   *slog.Logger // nil disables logging
}

// WithDefaults replaces zero values with the defaults.
func (c Config) WithDefaults() Config {
	c.TTL = cmp.Or(c.TTL, 30*time.Minute)
	c.PendingTTL = cmp.Or(c.PendingTTL, 7*24*time.Hour)
	c.Grace = cmp.Or(c.Grace, 10*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Sessions implements [cache.Sessions] on Redis. It is safe for concurrent use, by any number of
// servers at once.
type Sessions struct {
	client redis.Cmdable
	writes redis.Scripter // client, waiting for the replicas
	keys   rediskeys.Keys
	cfg    Config
}

var _ cache.Sessions = (*Sessions)(nil)

// New returns sessions stored through client; it does not contact the server.
func New(client redis.Cmdable, cfg Config) *Sessions {
	return &Sessions{
		client: client, writes: cfg.Replicas.Scripts(client),
		keys: rediskeys.For(client, cfg.KeyPrefix), cfg: cfg.WithDefaults(),
	}
}

// Replay implements [cache.Sessions].
func (s *Sessions) Replay(ctx context.Context, agent string, call cache.Call) (cache.Page, bool, error) {
	if call.RequestID == "" {
		return cache.Page{}, false, nil
	}
	cmd := lookupScript.Run(ctx, s.writes, s.records(agent, call), head(call), owner(call))
	if errors.Is(cmd.Err(), redis.Nil) {
		return cache.Page{}, false, nil
	}
	page, err := answer("replay", cmd, call)
	return page, err == nil, err
}

// Next implements [cache.Sessions].
func (s *Sessions) Next(ctx context.Context, agent string, name feed.Name, n int) ([]feed.Ref, error) {
	if n < 1 {
		return nil, nil
	}
	words, err := s.client.LRange(ctx, s.keys.Session(agent, name), 0, int64(n-1)).Result()
	if err != nil {
		return nil, contractError("next", err)
	}
	refs := convert.Each(words, feed.ParseRef)
	if len(refs) > 0 && refs[0].Scope != name.Scope() { // of another named feed
		return nil, nil
	}
	return refs, nil
}

// Refreshed implements [cache.Sessions].
func (s *Sessions) Refreshed(ctx context.Context, agent string, name feed.Name) (time.Time, error) {
	text, err := s.client.Get(ctx, s.keys.Refreshed(agent, name)).Result()
	if errors.Is(err, redis.Nil) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, contractError("refreshed", err)
	}
	if name.Named() {
		text = openedAt(text, name.Scope())
	}
	if text == "" {
		return time.Time{}, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", s.keys.Refreshed(agent, name), err)
	}
	return time.UnixMilli(ms), nil
}

// openedAt returns the time of a named feed in the list of those refreshed last, "" if it has none; for
// [feed.AnyNamed] the latest.
func openedAt(list, scope string) string {
	if scope == feed.AnyNamed.Scope() {
		first, _, _ := strings.Cut(list, " ")
		_, at, _ := strings.Cut(first, "=")
		return at
	}
	for word := range strings.FieldsSeq(list) {
		if at, ok := strings.CutPrefix(word, scope+"="); ok {
			return at
		}
	}
	return ""
}

// sessions are the names under which an agent has a session.
var sessions = [...]feed.Name{feed.ForYou, feed.HomeFeed, feed.AnyNamed}

// Delete implements [cache.Sessions].
func (s *Sessions) Delete(ctx context.Context, agent string) error {
	var keys []string
	for _, name := range sessions {
		keys = append(keys, s.keys.Session(agent, name))
	}
	return contractError("delete", s.client.Del(ctx, keys...).Err())
}

// Forget implements [cache.Sessions].
func (s *Sessions) Forget(ctx context.Context, agent string) error {
	var keys []string
	for _, name := range sessions {
		keys = append(keys, s.keys.Session(agent, name), s.keys.Refreshed(agent, name))
	}
	return contractError("forget", s.client.Del(ctx, keys...).Err())
}

// head returns the beginning of a page's text.
func head(call cache.Call) string {
	action := cmp.Or(call.Action, "-")
	if call.Feed.Named() { // named feeds share the records
		action += ":" + call.Feed.Scope()
	}
	if call.Action == "" {
		return action + " 0"
	}
	return action + " " + strconv.Itoa(call.Limit)
}

// owner returns the word for the call's owner in a record.
func owner(call cache.Call) string { return cmp.Or(call.Owner, "-") }

// recordTTL returns the lifetime of a call's record: long enough for retries, or, without a request
// id, for the call itself, which is shorter than the grace period.
func (s *Sessions) recordTTL(call cache.Call) time.Duration {
	if call.RequestID != "" {
		return cache.RetryTTL
	}
	return max(time.Second, s.cfg.Grace)
}

// record is a parsed record.
type record struct {
	head, owner string
	more, first bool
	steps       []step
}

// step holds the refs that one step of a call handed out.
type step struct {
	number int
	refs   []feed.Ref
}

func parseRecord(text string) (record, error) {
	bad := func() (record, error) { return record{}, fmt.Errorf("invalid stored page: %.40q", text) }
	rest, marked := strings.CutPrefix(text, "!")
	if marked {
		_, text, _ = strings.Cut(rest, " ")
	}
	words := strings.Split(text, " ")
	if len(words) < 5 || strings.HasPrefix(words[0], "!") {
		return bad()
	}
	if words[3] != "0" && words[3] != "1" {
		return bad()
	}
	by, first := strings.CutSuffix(words[2], "!")
	r := record{head: words[0] + " " + words[1], owner: by, more: words[3] == "1", first: first}
	for _, word := range words[4:] {
		if digits, ok := strings.CutPrefix(word, "~"); ok {
			number, err := strconv.Atoi(digits)
			if err != nil || number < 0 {
				return bad()
			}
			r.steps = append(r.steps, step{number: number})
			continue
		}
		if _, ref, ok := strings.Cut(strings.TrimPrefix(word, "^"), "^"); ok {
			word = ref
		}
		ref := feed.ParseRef(word)
		if ref.Group == "" || ref.ID == "" || len(r.steps) == 0 {
			return bad()
		}
		last := &r.steps[len(r.steps)-1]
		if last.refs == nil {
			last.refs = make([]feed.Ref, 0, len(words)-5)
		}
		last.refs = append(last.refs, ref)
	}
	if len(r.steps) == 0 {
		return bad()
	}
	return r, nil
}

// page returns the page that a record contains for a step of a call.
func (r record) page(call cache.Call) (cache.Page, error) {
	if r.head != head(call) {
		return cache.Page{}, fmt.Errorf("%w (it was %s, this is %s)", cache.ErrConflict, r.head, head(call))
	}
	page := cache.Page{HasMore: r.more, First: r.first, Replayed: r.owner != owner(call), Next: r.steps[len(r.steps)-1].number + 1}
	for _, s := range r.steps {
		if call.Step == 0 || s.number == call.Step {
			page.Refs = append(page.Refs, s.refs...)
		}
	}
	return page, nil
}

// answer reads the reply of the page scripts: the kind of answer, and the page or the record.
func answer(what string, cmd *redis.Cmd, call cache.Call) (cache.Page, error) {
	reply, err := cmd.StringSlice()
	if err != nil {
		return cache.Page{}, contractError(what, err)
	}
	if len(reply) < 2 {
		return cache.Page{}, fmt.Errorf("%s: the script returned %d values", what, len(reply))
	}
	switch reply[0] {
	case "late":
		return cache.Page{}, feed.Errorf(feed.ErrUnavailable, "the refresh took too long; try again")
	case "other":
		return cache.Page{}, fmt.Errorf("%w (it was of another feed)", cache.ErrConflict)
	case "void":
		return cache.Page{}, fmt.Errorf("%s: the call was abandoned before this step arrived", what)
	}
	r, err := parseRecord(reply[1])
	if err != nil {
		return cache.Page{}, fmt.Errorf("%s: %w", what, err)
	}
	page, err := r.page(call)
	if err != nil || reply[0] == "old" {
		page.Recorded = err == nil
		return page, err
	}
	if len(page.Refs) == 0 && call.Step > 0 {
		page.Next = call.Step // it is not recorded
	}
	page.Shared = reply[0] == "shared"
	if len(reply) > 2 && reply[2] != "" {
		page.Ahead = convert.Each(strings.Split(reply[2], " "), feed.ParseRef)
	}
	return page, nil
}

func contractError(step string, err error) error {
	switch {
	case err == nil:
		return nil
	case rediskeys.Uncertain(err):
		return fmt.Errorf("%w: %w: %s: %w", cache.ErrUnavailable, cache.ErrUncertain, step, err)
	case rediskeys.Foreign(err):
		return fmt.Errorf("%w: %w: %s: %w", cache.ErrUnavailable, dedup.ErrForeign, step, err)
	case rediskeys.Unreachable(err):
		return fmt.Errorf("%w: %s: %w", cache.ErrUnavailable, step, err)
	}
	return fmt.Errorf("%s: %w", step, err)
}

// records returns the keys of the call's record and, if another call may use the same name, of those
// of the other sessions.
func (s *Sessions) records(agent string, call cache.Call) []string {
	keys := []string{s.keys.Page(agent, call.Feed, call.Record())}
	if call.RequestID != "" {
		others := call.Feed.Others()
		keys = append(keys, s.keys.Page(agent, others[0], call.RequestID), s.keys.Page(agent, others[1], call.RequestID))
	}
	return keys
}

// keysOf appends the keys of the call's records, if it has one, to the keys of a script.
func (s *Sessions) keysOf(agent string, call cache.Call, keys ...string) []string {
	if !call.None() {
		keys = append(keys, s.records(agent, call)...)
	}
	return keys
}

// expired returns the newest score that no longer counts as pending.
func (s *Sessions) expired(now time.Time) int64 {
	return now.Add(-s.cfg.PendingTTL).UnixMilli() - 1
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
