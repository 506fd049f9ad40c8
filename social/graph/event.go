// Package graph takes what other systems tell of posts, follows and circles, as events, and applies
// it to the social store. It decodes an event ([Decode], [Parse]), applies one ([Event.Apply]) or
// many ([Applier]), and reads whole files of them ([Applier.Read]). graph/stream reads them from
// Redis. docs/timelines.md describes the events for those who send them.
//
// Events may come late, twice and in any order: each has its own time, and the
// store orders changes by it (package social, "Time of changes").
package graph

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/strictjson"
	"github.com/freshet/freshet/social"
)

// MaxEventBytes is how long an event may be: room for a post with 10,000 grants,
// or for a circle with all its members.
const MaxEventBytes = 1 << 20

// Type says what happened.
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

// Event is one change that another system tells of.
type Event struct {
	Type Type
	body body
}

// body is the data of an event of some type.
type body interface {
	// subject names what the event is about, as it was sent; see [Event.ID].
	subject() string
	// at is when it happened; zero: the event does not say.
	at() time.Time
	// check fills in what was left out and says what is wrong, but for the time.
	check() error
	// apply tells the store.
	apply(ctx context.Context, s Store) error
}

// bodies make an empty body to be decoded into.
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

// ID names what the event is about: the id of its post or circle, or the two agents with a slash
// between them. It is there beside an error, too, where it could be read.
func (e Event) ID() string {
	if e.body == nil {
		return ""
	}
	return e.body.subject()
}

// At is when it happened.
func (e Event) At() time.Time { return e.body.at() }

// key is equal for events of the same post, the same circle or the same two agents.
func (e Event) key() string {
	one, other, _ := strings.Cut(e.ID(), "/")
	return min(one, other) + "/" + max(one, other)
}

// Apply tells the store. An error for which [feed.Refused] holds is the event's; with any other
// error the store could not be asked, and some of the event may have been applied. It may be
// repeated.
func (e Event) Apply(ctx context.Context, s Store) error { return e.body.apply(ctx, s) }

// kinds are the errors of [strictjson]: whatever is wrong with an event makes it a bad one.
var kinds = strictjson.Errors{"": feed.Errorf(feed.ErrInvalid, "bad event")}

// Decode reads an event as one line of JSON: {"type":…,"data":{…}}. The error
// wraps [feed.ErrInvalid] and says what to send instead.
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

// object is a JSON object that is kept as it is written.
type object []byte

func (o *object) UnmarshalJSON(value []byte) error {
	if value[0] != '{' {
		return errors.New("must be an object")
	}
	*o = append([]byte(nil), value...)
	return nil
}

// Parse reads an event whose type stands beside its data, as in a Redis stream.
// The error wraps [feed.ErrInvalid] and says what to send instead.
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
	if err := cmp.Or(e.body.check(), checkTime(e.At())); err != nil {
		return e, feed.Errorf(feed.ErrInvalid, "bad event: %w", err)
	}
	return e, nil
}

var errTooBig = feed.Errorf(feed.ErrInvalid, "bad event: it has more than the %d bytes an event may have", MaxEventBytes)

// known lists the types.
func known() string {
	var names []string
	for t := range bodies {
		names = append(names, string(t))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// when is the time of an event, by which it is ordered among others.
type when struct {
	Time feed.Moment `json:"at"`
}

func (w *when) at() time.Time { return w.Time.Time }

// about is an event of the post or circle with an id.
type about struct {
	ID string `json:"id"`
	when
}

func (a *about) subject() string { return a.ID }

func checkTime(at time.Time) error {
	if at.IsZero() {
		return errors.New("at is missing: the time when it happened decides which of two changes holds")
	}
	return social.CheckTime(at, forever)
}

// forever stands for the clock where an event is only decoded: whether its times
// lie ahead is for the store to say, by its own clock.
var forever = time.Unix(feed.MaxItemTime, 0)
