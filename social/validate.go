package social

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
)

// Normalize fills in the fields that a new post leaves open. Missing rights become public, and so
// does the right of the audience in a local post without circles. It removes duplicate ids, the
// author among those mentioned, followers from a public audience, and the circles of a remote post.
// It sorts circles. It changes no slice in place.
func (p *Post) Normalize() {
	p.Audience.Followers = p.Audience.Followers && !p.Audience.Public
	if p.Remote() {
		p.Audience.Circles = nil
	}
	p.Audience.Circles = unique(p.Audience.Circles, "")
	slices.Sort(p.Audience.Circles) // unique has made a copy
	p.Mentions = unique(p.Mentions, p.Author)
	p.Grants = unique(p.Grants, "")
	p.Tags = terms.Distinct(p.Tags)
	p.Reply, p.React = p.normal(p.Reply), p.normal(p.React)
}

func (p *Post) normal(right Right) Right {
	noAudience := !p.Remote() && len(p.Audience.Circles) == 0
	if right == "" || right == RightAudience && noAudience {
		return RightPublic
	}
	return right
}

// unique removes duplicates and one value, and returns nil for an empty list.
func unique(list []string, without string) []string {
	var out []string
	for _, s := range list {
		if (s != without || without == "") && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Validate checks a new, normalized post. Errors wrap [feed.ErrRule] and name the rule, or
// [feed.ErrBadID] if the post's own id or its author's is malformed.
//
// The store checks that the author may post to the circles.
func (p *Post) Validate(now time.Time) error {
	if err := CheckPostID(p.ID); err != nil {
		return err
	}
	if err := CheckAgent(p.Author); err != nil {
		return fmt.Errorf("author: %w", err)
	}
	return badPost(cmp.Or(p.checkContent(now), p.checkAudience(), p.checkReply(), p.checkRemote()))
}

// badPost wraps an error about a post; nil stays nil.
func badPost(err error) error {
	if err == nil {
		return nil
	}
	return feed.Errorf(feed.ErrRule, "bad post: %w", err)
}

func (p *Post) checkContent(now time.Time) error {
	switch {
	case p.CreatedAt < 1 || p.CreatedAt > now.Unix():
		return fmt.Errorf("created_at must be Unix seconds and not in the future, not %d", p.CreatedAt)
	case feed.Blank(p.Caption) && len(p.Images) == 0:
		return errors.New("it has neither caption nor image")
	case len(p.Images) > MaxImages:
		return fmt.Errorf("%d images, at most %d are allowed", len(p.Images), MaxImages)
	}
	list := alts(p.Images)
	return Edit{Caption: &p.Caption, Tags: &p.Tags, Alts: &list}.check()
}

func (p *Post) checkAudience() error {
	if err := cmp.Or(checkRight("reply", p.Reply), checkRight("react", p.React)); err != nil {
		return err
	}
	for _, list := range []struct {
		name  string
		ids   []string
		most  int
		check func(string) error
	}{
		{"circles", p.Audience.Circles, MaxCircles, CheckCircleID},
		{"mentions", p.Mentions, MaxMentions, CheckAgent},
		{"grants", p.Grants, MaxGrants, CheckAgent},
	} {
		if len(list.ids) > list.most {
			return fmt.Errorf("%d %s, at most %d are allowed", len(list.ids), list.name, list.most)
		}
		for i, id := range list.ids {
			if err := list.check(id); err != nil {
				return fmt.Errorf("%s[%d]: %w", list.name, i, err)
			}
		}
	}
	return nil
}

func checkRight(name string, right Right) error {
	if slices.Contains([]Right{RightPublic, RightFollowers, RightAudience, RightNone}, right) {
		return nil
	}
	return fmt.Errorf("%s must be public, followers, audience or none, not %q", name, right)
}

func (p *Post) checkReply() error {
	switch {
	case p.ReplyTo == "":
		return nil
	case p.Audience.Reach() != Addressed || len(p.Audience.Circles) > 0:
		return errors.New("a reply has the audience of its root post; leave audience out")
	case p.Remote():
		return errors.New("a post of another system cannot be a reply")
	}
	if err := CheckPostID(p.ReplyTo); err != nil {
		return fmt.Errorf("reply_to: %w", err)
	}
	return nil
}

func (p *Post) checkRemote() error {
	if !p.Remote() && len(p.Grants) > 0 {
		return errors.New("only a post of another system may carry grants")
	}
	if _, err := url.Parse(p.URL); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if err := feed.CheckURL(p.URL); err != nil {
		return fmt.Errorf("url %w", err)
	}
	return cmp.Or(checkText("origin", p.Origin, 253), checkText("url", p.URL, MaxURL), checkText("object_type", p.ObjectType, 64))
}

// Validate checks the values of an edit; the error wraps [feed.ErrRule]. The store checks that the
// post is not left empty.
func (e Edit) Validate() error { return badPost(e.check()) }

func (e Edit) check() error {
	if e.Caption != nil {
		if err := checkText("caption", *e.Caption, MaxCaption); err != nil {
			return err
		}
	}
	if e.Tags != nil {
		if err := checkTerms("tags", "a tag", *e.Tags, feed.MaxTags); err != nil {
			return err
		}
	}
	if e.Reply != nil {
		if err := checkRight("reply", *e.Reply); err != nil {
			return err
		}
	}
	if e.Alts != nil {
		for _, alt := range *e.Alts {
			if err := checkShown("an alt text", alt, MaxAlt); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkTerms checks tags or languages; each names one of them in errors.
func checkTerms(name, each string, list []string, most int) error {
	if len(list) > most {
		return fmt.Errorf("%d %s, at most %d are allowed", len(list), name, most)
	}
	for _, term := range list {
		if feed.Blank(term) {
			return fmt.Errorf("%s is empty", each)
		}
		if err := checkText(each, term, feed.MaxTermLength); err != nil {
			return err
		}
	}
	return nil
}

// checkText rejects text that is too long, is not UTF-8 or has a NUL character, which PostgreSQL
// cannot store.
func checkText(what, s string, most int) error {
	switch n := utf8.RuneCountInString(s); {
	case n > most:
		return fmt.Errorf("%s has %d characters, at most %d are allowed", what, n, most)
	case !utf8.ValidString(s):
		return fmt.Errorf("%s is not UTF-8", what)
	case strings.ContainsRune(s, 0):
		return fmt.Errorf("%s has a NUL character", what)
	}
	return nil
}

// checkShown is checkText, and also rejects a non-empty text without a visible character.
func checkShown(what, s string, most int) error {
	if s != "" && feed.Blank(s) {
		return fmt.Errorf("%s has no visible character; leave it out", what)
	}
	return checkText(what, s, most)
}

// Validate checks a card; the error wraps [feed.ErrInvalid], or [feed.ErrBadID].
func (a Author) Validate() error {
	if err := CheckAgent(a.ID); err != nil {
		return err
	}
	if err := cmp.Or(checkShown("name", a.Name, MaxName), checkShown("image_url", a.ImageURL, MaxURL), checkShown("bio", a.Bio, MaxBio)); err != nil {
		return fmt.Errorf("%w: %w", feed.ErrInvalid, err)
	}
	if err := feed.CheckURL(a.ImageURL); err != nil {
		return feed.Errorf(feed.ErrInvalid, "bad author: image_url %w", err)
	}
	return nil
}

// CheckFollow checks that agent may follow author at all; the error wraps [feed.ErrInvalid] or
// [feed.ErrBadID].
func CheckFollow(agent, author string) error {
	if author == Server {
		return CheckAgent(agent)
	}
	return CheckPair(agent, author)
}

// CheckPair checks that two agents can follow or block each other; the error wraps
// [feed.ErrInvalid] or [feed.ErrBadID].
func CheckPair(agent, other string) error {
	if err := cmp.Or(CheckAgent(agent), CheckAgent(other)); err != nil {
		return err
	}
	if agent == other {
		return fmt.Errorf("%w: %s cannot follow or block themself", feed.ErrInvalid, agent)
	}
	return nil
}
