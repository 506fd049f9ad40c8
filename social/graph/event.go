// Package graph receives events of other systems about posts, follows and circles and applies
// them to the social store. It decodes an event ([Decode], [Parse]), applies one ([Event.Apply]) or
// many ([Applier]), and reads whole files of them ([Applier.Read]). graph/stream reads them from
// Redis. docs/timelines.md describes the events for senders.
//
// Events may arrive late, twice and in any order: each has its own time, by which the store
// orders changes (package social, "Time of changes").
package graph

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/strictjson"
	"github.com/freshet/freshet/social"
)

// MaxEventBytes is the maximum size of an event: enough for a post with 10,000 grants, or for
// a circle with all its members.
const MaxEventBytes = 1 << 20

// Type is the type of an event.
type Type string

// The types of events.
const (
	PostCreated         Type = "post.created"
	PostUpdated         Type = "post.updated"
	PostDeleted         Type = "post.deleted"
	FollowCreated       Type = "follow.created"
	FollowRemoved       Type = "follow.removed"
	ConnectionsAccepted Type = "connections.accepted"
	ConnectionsRemoved  Type = "connections.removed"
	CircleChanged       Type = "circle.changed"
	Engagement          Type = "engagement"
)

// Event is one change that another system reports.
type Event struct {
	Type Type
	body body
}

// body is the data of an event of some type.
type body interface {
	// subject returns the id of the event's subject as it was sent; see [Event.ID].
	subject() string
	// at returns the time of the change, or zero if the event has none.
	at() time.Time
	// check sets defaults and validates everything except the time.
	check() error
	// apply writes the change to the store.
	apply(ctx context.Context, s Store) error
}

// bodies returns, for each type, an empty body to decode into.
var bodies = map[Type]func() body{
	PostCreated:         func() body { return new(postCreated) },
	PostUpdated:         func() body { return new(postUpdated) },
	PostDeleted:         func() body { return new(postDeleted) },
	FollowCreated:       func() body { return &follow{on: true} },
	FollowRemoved:       func() body { return new(follow) },
	ConnectionsAccepted: func() body { return &connection{on: true} },
	ConnectionsRemoved:  func() body { return new(connection) },
	CircleChanged:       func() body { return new(circleChanged) },
	Engagement:          func() body { return new(engagement) },
}

// ID returns the id of the event's post or circle, or the ids of its two agents with a slash
// between them. An event that failed to decode also has it if the id could be read.
func (e Event) ID() string {
	if e.body == nil {
		return ""
	}
	return e.body.subject()
}

// At returns the time of the change.
func (e Event) At() time.Time { return e.body.at() }

// key returns the same key for events of the same post, the same circle or the same two agents.
func (e Event) key() string {
	one, other, _ := strings.Cut(e.ID(), "/")
	return min(one, other) + "/" + max(one, other)
}

// Apply writes the change to the store. An error for which [feed.Refused] holds is due to the
// event. With any other error the store was unavailable, and part of the event may have been
// applied. Apply is idempotent.
func (e Event) Apply(ctx context.Context, s Store) error { return e.body.apply(ctx, s) }

// kinds maps all errors of [strictjson] to one error for a bad event.
var kinds = strictjson.Errors{"": feed.Errorf(feed.ErrInvalid, "bad event")}

// Decode decodes an event from one line of JSON: {"type":…,"data":{…}}. The error wraps
// [feed.ErrInvalid] and says what to send instead.
func Decode(line []byte) (Event, error) {
	var e struct {
		Type string `json:"type"`
		Data object `json:"data"`
	}
	if err := strictjson.Unmarshal(line, &e, kinds); err != nil {
		return Event{}, err
	}
	if e.Type == "" {
		return Event{}, feed.Errorf(feed.ErrInvalid, "bad event: type is missing; known are %s", known())
	}
	if e.Data == nil {
		return Event{}, feed.Errorf(feed.ErrInvalid, "bad event: data is missing")
	}
	return Parse(e.Type, e.Data)
}

// object is a JSON object in its original encoding.
type object []byte

func (o *object) UnmarshalJSON(value []byte) error {
	if value[0] != '{' {
		return errors.New("must be an object")
	}
	*o = append([]byte(nil), value...)
	return nil
}

// Parse decodes an event from separate type and data, as in a Redis stream. The error wraps
// [feed.ErrInvalid] and says what to send instead.
func Parse(typ string, data []byte) (Event, error) {
	if len(data) > MaxEventBytes {
		return Event{}, errTooBig
	}
	fresh := bodies[Type(typ)]
	if fresh == nil {
		return Event{}, feed.Errorf(feed.ErrInvalid, "bad event: unknown type %.64q; known are %s", typ, known())
	}
	e := Event{Type: Type(typ), body: fresh()}
	if err := strictjson.Unmarshal(data, e.body, kinds); err != nil {
		return e, err
	}
	if err := strictjson.Filled(data, kinds[""], "reply", "react", "kind", "post", "history", "members_visible_to"); err != nil {
		return e, err
	}
	if err := cmp.Or(e.body.check(), checkTime(e.At())); err != nil {
		return e, feed.Errorf(feed.ErrInvalid, "bad event: %w", err)
	}
	return e, nil
}

var errTooBig = feed.Errorf(feed.ErrInvalid, "bad event: it is larger than %d bytes", MaxEventBytes)

// known lists the types.
func known() string {
	var names []string
	for t := range bodies {
		names = append(names, string(t))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// when is the time of an event, by which changes are ordered.
type when struct {
	Time feed.Moment `json:"at"`
}

func (w *when) at() time.Time { return w.Time.Time }

// about holds the fields of an event about one post or circle.
type about struct {
	ID string `json:"id"`
	when
}

func (a *about) subject() string { return a.ID }

func checkTime(at time.Time) error {
	if at.IsZero() {
		return errors.New("at is missing: the time of the event decides which of two changes applies")
	}
	return social.CheckTime(at, forever)
}

// forever replaces the current time when an event is only decoded: the store checks with its own
// clock whether the event's times are in the future.
var forever = time.Unix(feed.MaxItemTime, 0)
