package social

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
)

// Limits of moderation, in characters.
const (
	MaxReportDetails = 1000
	// MaxReportsShown is how many of the newest reports of one object [Moderation.Reported] returns.
	MaxReportsShown = 5
)

// ObjectKind says what can be reported and moderated.
type ObjectKind string

// The kinds of objects.
const (
	ObjectPost   ObjectKind = "post" // or a reply
	ObjectItem   ObjectKind = "item"
	ObjectAuthor ObjectKind = "author"
	ObjectCircle ObjectKind = "circle" // a group or an event
)

// ObjectKinds lists all kinds.
func ObjectKinds() []ObjectKind {
	return []ObjectKind{ObjectPost, ObjectItem, ObjectAuthor, ObjectCircle}
}

// Object names something that can be reported and moderated.
type Object struct {
	Kind ObjectKind `json:"kind"`
	ID   string     `json:"id"`
}

// Check returns an error for a kind that does not exist, or an id that such an object cannot have.
func (o Object) Check() error {
	switch o.Kind {
	case ObjectPost:
		return CheckPostID(o.ID)
	case ObjectItem:
		return checkItemID(o.ID)
	case ObjectAuthor:
		return CheckAgent(o.ID)
	case ObjectCircle:
		return CheckCircleID(o.ID)
	}
	return unknown("kind", string(o.Kind), ObjectKinds())
}

// checkItemID checks the id of an item that is no post.
func checkItemID(id string) error {
	if feed.IsPost(id) {
		return feed.Errorf(feed.ErrBadID, "%.80q is the id of a post, not of an item", id)
	}
	return feed.CheckItemID(id)
}

// unknown is the error of a value that is none of a closed list.
func unknown[T ~string](field, value string, known []T) error {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = string(k)
	}
	return feed.Errorf(feed.ErrInvalid, "there is no %s %.40q; send one of %s", field, value, strings.Join(names, ", "))
}

// ReportReason is why an agent reports something.
type ReportReason string

// ReportReasons lists all reasons.
func ReportReasons() []ReportReason {
	return []ReportReason{"spam", "harassment", "hate", "violence", "sexual", "self_harm", "illegal", "misinformation", "impersonation", "other"}
}

// Report has the words of one agent about an object.
type Report struct {
	Object  `json:"-"`
	Agent   string       `json:"agent"`
	Reason  ReportReason `json:"reason"`
	Details string       `json:"details,omitempty"`
	At      int64        `json:"at"` // Unix seconds
}

// Check checks what the agent has sent; the error wraps [feed.ErrInvalid] or [feed.ErrBadID].
func (r *Report) Check() error {
	if err := r.Object.Check(); err != nil {
		return err
	}
	if err := CheckAgent(r.Agent); err != nil {
		return err
	}
	if !slices.Contains(ReportReasons(), r.Reason) {
		return unknown("reason", string(r.Reason), ReportReasons())
	}
	if err := checkShown("details", r.Details, MaxReportDetails); err != nil {
		return fmt.Errorf("%w: %w", feed.ErrInvalid, err)
	}
	return nil
}

// ModerationState says whether moderators have hidden a post.
type ModerationState string

// The states of a post.
const (
	Unmoderated ModerationState = ""
	HeldPost    ModerationState = "held"    // hidden from all but its author until it is decided
	RemovedPost ModerationState = "removed" // hidden from all but its author
)

// ReportedObject is an object with the reports about it.
type ReportedObject struct {
	Object
	Open      bool                 `json:"open"`
	Count     int                  `json:"count"`                // agents who reported it
	Reasons   map[ReportReason]int `json:"reasons"`              // how many gave each reason
	Latest    int64                `json:"latest"`               // of the latest report, Unix seconds
	Decision  string               `json:"decision,omitempty"`   // the last one about it
	DecidedAt int64                `json:"decided_at,omitempty"` // Unix seconds
	Reports   []Report             `json:"reports"`              // the newest
}

// ReportedPage is a page of reported objects, those with the latest reports first.
type ReportedPage struct {
	Objects    []ReportedObject `json:"objects"`
	NextCursor *string          `json:"next_cursor"` // nil on the last page
}

// ReportedQuery selects reported objects.
type ReportedQuery struct {
	Decided bool   // those that have been decided since the last report, not the open ones
	After   string // the cursor of the page before; "" for the first
	N       int
}

// Action names something that a moderator does.
type Action string

// The actions. Each decides the reports about its object.
const (
	ActionHold    Action = "hold"    // a post
	ActionRemove  Action = "remove"  // a post
	ActionRestore Action = "restore" // a post that was held or removed
	ActionSuspend Action = "suspend" // an author, until a time
	ActionLift    Action = "lift"    // ends the suspension of an author
	ActionDismiss Action = "dismiss" // only decides the reports
	// ActionRead and ActionList are in the audit log only: a moderator has read a post, or a list of posts.
	ActionRead Action = "read"
	ActionList Action = "list"
)

// Actions lists what a moderator can ask for.
func Actions() []Action {
	return []Action{ActionHold, ActionRemove, ActionRestore, ActionSuspend, ActionLift, ActionDismiss}
}

// Moderate is one action about one object.
type Moderate struct {
	Object Object `json:"object"`
	Action Action `json:"action"`
	Reason string `json:"reason,omitempty"` // its author, or the agent who is suspended, sees it
	Until  int64  `json:"until,omitempty"`  // Unix seconds; the end of a suspension
	By     string `json:"-"`                // for the audit log
}

// Check checks an action; the error wraps [feed.ErrInvalid] or [feed.ErrBadID].
func (m *Moderate) Check(now time.Time) error {
	if err := m.Object.Check(); err != nil {
		return err
	}
	if err := CheckReason(m.Reason); err != nil {
		return err
	}
	var of ObjectKind
	switch m.Action {
	case ActionHold, ActionRemove, ActionRestore:
		of = ObjectPost
	case ActionSuspend, ActionLift:
		of = ObjectAuthor
	case ActionDismiss:
		of = m.Object.Kind
	default:
		return unknown("action", string(m.Action), Actions())
	}
	switch {
	case of != m.Object.Kind:
		return feed.Errorf(feed.ErrInvalid, "%s is for objects of the kind %s, not %s", m.Action, of, m.Object.Kind)
	case m.Action == ActionSuspend && (m.Until <= now.Unix() || m.Until > MaxTime):
		return feed.Errorf(feed.ErrInvalid, "until is the end of the suspension, in Unix seconds: send a time in the future, at most %d", MaxTime)
	case m.Action != ActionSuspend && m.Until != 0:
		return feed.Errorf(feed.ErrInvalid, "until is for suspensions; leave it out")
	}
	return nil
}

// MaxTime is the latest end of a suspension: the year 2286.
const MaxTime = 9_999_999_999

// AuditEntry is an entry of the audit log.
type AuditEntry struct {
	Seq    int64  `json:"seq"`
	At     int64  `json:"at"` // Unix seconds
	Who    string `json:"who"`
	Action Action `json:"action"`
	// Object has no id if it was an agent who was erased since. It is zero for a list that names no author.
	Object Object `json:"object,omitzero"`
	Reason string `json:"reason,omitempty"`
}

// AuditPage is a page of the audit log, the newest entries first.
type AuditPage struct {
	Entries    []AuditEntry `json:"entries"`
	NextCursor *string      `json:"next_cursor"`
}

// ModeratedPost is a post as moderators see it, regardless of its audience.
type ModeratedPost struct {
	ID        string          `json:"id"`
	Author    string          `json:"author"`
	CreatedAt int64           `json:"created_at"`
	EditedAt  int64           `json:"edited_at,omitempty"`
	Caption   string          `json:"caption"`
	Tags      []string        `json:"tags,omitempty"`
	Images    []Image         `json:"images,omitempty"`
	Mentions  []string        `json:"mentions,omitempty"`
	ReplyTo   string          `json:"reply_to,omitempty"`
	Root      string          `json:"root,omitempty"`
	Audience  Audience        `json:"audience"` // as it is without the moderators' decision
	State     ModerationState `json:"state,omitempty"`
	Reason    string          `json:"reason,omitempty"` // of the state
	Likes     int64           `json:"likes"`
	Comments  int64           `json:"comments"`
	Reports   int             `json:"reports"` // how many agents have reported it
	// SuspendedUntil is the end of its author's suspension, in Unix seconds; 0 for none.
	SuspendedUntil int64 `json:"author_suspended_until,omitempty"`
}

// ModeratedPage is a page of posts for moderators, the newest first.
type ModeratedPage struct {
	Posts      []ModeratedPost `json:"posts"`
	NextCursor *string         `json:"next_cursor"` // nil on the last page
}

// PostsQuery selects posts for moderators.
type PostsQuery struct {
	Author       string // "" for all
	Reported     bool   // only those with reports
	State        ModerationState
	Since, Until int64 // Unix seconds, of the creation; 0 for no bound
	Below        Position
	N            int
}

// Moderation has the reports of agents, and what moderators do.
type Moderation interface {
	// Report stores a report, once for each agent and object: a repetition changes nothing. Errors: those
	// of [Report.Check]; feed.ErrNotFound for what the agent may not see, except items, which the store does
	// not know.
	Report(ctx context.Context, r Report) (changed bool, err error)

	// Reported returns objects with reports. The error for a malformed cursor is feed.ErrInvalid.
	Reported(ctx context.Context, q ReportedQuery) (ReportedPage, error)

	// Moderate does what a moderator decides, decides the reports about the object, and writes the
	// audit log, all in one transaction. It reports whether anything but the log has changed. A post that
	// does not exist, or an author who is not known, is feed.ErrNotFound.
	Moderate(ctx context.Context, m Moderate) (changed bool, err error)

	// ModeratedPosts returns posts as moderators see them, in the order of the ids; those that do not
	// exist have no id. PostsToModerate returns those that a query selects. Both write an entry of the
	// audit log before they return.
	ModeratedPosts(ctx context.Context, who string, ids []string) ([]ModeratedPost, error)
	PostsToModerate(ctx context.Context, who string, q PostsQuery) ([]ModeratedPost, error)

	// Audit returns at most n entries with numbers below one, or the newest if it is 0. The log is kept
	// for ever; the erasure of an agent removes the id and the reasons from entries about it.
	Audit(ctx context.Context, below int64, n int) ([]AuditEntry, error)
}
