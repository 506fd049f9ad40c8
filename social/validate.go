package social

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
)

// Normalize fills in what a new post leaves open: rights that are not given are
// public, and so is the right of the audience where there are no circles that it could
// mean; ids come once, the author is not among those mentioned, followers are
// part of the public, and the circles of a remote post are dropped. It
// changes no slice in place. Circles come in order.
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
	if right == "" || right == RightAudience && !p.Remote() && len(p.Audience.Circles) == 0 {
		return RightPublic
	}
	return right
}

// unique drops doubles and one value, and answers nil for nothing.
func unique(list []string, without string) []string {
	var out []string
	for _, s := range list {
		if (s != without || without == "") && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Validate checks a normalized post that is to be created. Errors wrap
// [feed.ErrRule] and name the rule, or [feed.ErrBadID] where the post's own id or
// its author's is malformed.
//
// That its circles are its author's is for the store to check.
func (p *Post) Validate(now time.Time) error {
	if err := CheckPostID(p.ID); err != nil {
		return err
	}
	if err := CheckAgent(p.Author); err != nil {
		return fmt.Errorf("author: %w", err)
	}
	if p.CreatedAt < 1 || p.CreatedAt > now.Unix() {
		return feed.Errorf(feed.ErrRule, "bad post: created_at must be Unix seconds and not ahead, not %d", p.CreatedAt)
	}
	if feed.Blank(p.Caption) && len(p.Images) == 0 {
		return feed.Errorf(feed.ErrRule, "bad post: it has neither caption nor image")
	}
	if len(p.Images) > MaxImages {
		return feed.Errorf(feed.ErrRule, "bad post: %d images, at most %d are allowed", len(p.Images), MaxImages)
	}
	e := Edit{Caption: &p.Caption, Tags: &p.Tags}
	if len(p.Images) > 0 {
		list := alts(p.Images)
		e.Alts = &list
	}
	if err := e.Validate(); err != nil {
		return err
	}
	if err := p.checkAudience(); err != nil {
		return err
	}
	if err := p.checkReply(); err != nil {
		return err
	}
	return p.checkRemote()
}

func (p *Post) checkAudience() error {
	for _, right := range []struct {
		name  string
		value Right
	}{{"reply", p.Reply}, {"react", p.React}} {
		switch right.value {
		case RightPublic, RightFollowers, RightAudience, RightNone:
		default:
			return feed.Errorf(feed.ErrRule, "bad post: %s must be public, followers, audience or none, not %q", right.name, right.value)
		}
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
			return feed.Errorf(feed.ErrRule, "bad post: %d %s, at most %d are allowed", len(list.ids), list.name, list.most)
		}
		for _, id := range list.ids {
			if err := list.check(id); err != nil {
				return feed.Errorf(feed.ErrRule, "bad post: %s: %w", list.name, err)
			}
		}
	}
	return nil
}

func (p *Post) checkReply() error {
	if p.ReplyTo == "" {
		return nil
	}
	if err := CheckPostID(p.ReplyTo); err != nil {
		return feed.Errorf(feed.ErrRule, "bad post: reply_to: %w", err)
	}
	if p.Audience.Reach() != Addressed || len(p.Audience.Circles) > 0 {
		return feed.Errorf(feed.ErrRule, "bad post: a reply has the audience of the post that it stands under; leave audience out")
	}
	if p.Remote() {
		return feed.Errorf(feed.ErrRule, "bad post: a post of another system cannot be a reply")
	}
	return nil
}

func (p *Post) checkRemote() error {
	if !p.Remote() && len(p.Grants) > 0 {
		return feed.Errorf(feed.ErrRule, "bad post: only a post of another system may carry grants")
	}
	if err := text("origin", p.Origin, 253); err != nil {
		return err
	}
	if p.URL != "" {
		if _, err := url.Parse(p.URL); err != nil {
			return feed.Errorf(feed.ErrRule, "bad post: url: %w", err)
		}
	}
	if err := feed.CheckURL(p.URL); err != nil {
		return feed.Errorf(feed.ErrRule, "bad post: url %w", err)
	}
	if err := text("url", p.URL, MaxURL); err != nil {
		return err
	}
	return text("object_type", p.ObjectType, 64)
}

// Validate checks the values of an edit; the error wraps [feed.ErrRule]. Whether
// anything remains of the post is for the store to check.
func (e Edit) Validate() error {
	if e.Caption != nil {
		if err := text("caption", *e.Caption, MaxCaption); err != nil {
			return err
		}
	}
	if e.Tags != nil {
		if len(*e.Tags) > feed.MaxTags {
			return feed.Errorf(feed.ErrRule, "bad post: %d tags, at most %d are allowed", len(*e.Tags), feed.MaxTags)
		}
		for _, tag := range *e.Tags {
			if feed.Blank(tag) {
				return feed.Errorf(feed.ErrRule, "bad post: a tag is empty")
			}
			if err := text("a tag", tag, feed.MaxTermLength); err != nil {
				return err
			}
		}
	}
	if e.Alts != nil {
		for _, alt := range *e.Alts {
			if err := text("an alt text", alt, MaxAlt); err != nil {
				return err
			}
			if err := checkShown("an alt text", alt); err != nil {
				return feed.Errorf(feed.ErrRule, "bad post: %w", err)
			}
		}
	}
	return nil
}

// text checks a text of a post.
func text(what, s string, most int) error {
	if err := checkText(what, s, most); err != nil {
		return feed.Errorf(feed.ErrRule, "bad post: %w", err)
	}
	return nil
}

// checkText refuses what is too long, what is not UTF-8 and the NUL character,
// which PostgreSQL cannot keep.
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

// checkShown refuses a text that is given and shows nothing.
func checkShown(what, s string) error {
	if s != "" && feed.Blank(s) {
		return fmt.Errorf("%s has no visible character; leave it out", what)
	}
	return nil
}

// Validate checks a card; the error wraps [feed.ErrInvalid], or [feed.ErrBadID].
func (a Author) Validate() error {
	if err := CheckAgent(a.ID); err != nil {
		return err
	}
	for _, field := range []struct {
		name, value string
		most        int
	}{{"name", a.Name, MaxName}, {"image_url", a.ImageURL, MaxURL}, {"bio", a.Bio, MaxBio}} {
		if err := cmp.Or(checkText(field.name, field.value, field.most), checkShown(field.name, field.value)); err != nil {
			return fmt.Errorf("%w: %w", feed.ErrInvalid, err)
		}
	}
	if err := feed.CheckURL(a.ImageURL); err != nil {
		return feed.Errorf(feed.ErrInvalid, "bad author: image_url %w", err)
	}
	return nil
}

// CheckFollow reports whether agent may follow author at all; the error wraps
// [feed.ErrInvalid] or [feed.ErrBadID].
func CheckFollow(agent, author string) error {
	if author == Server {
		return CheckAgent(agent)
	}
	return CheckPair(agent, author)
}

// CheckPair reports whether two agents can have to do with each other; the
// error wraps [feed.ErrInvalid] or [feed.ErrBadID].
func CheckPair(agent, other string) error {
	if err := CheckAgent(agent); err != nil {
		return err
	}
	if err := CheckAgent(other); err != nil {
		return err
	}
	if agent == other {
		return fmt.Errorf("%w: %s cannot follow or block themself", feed.ErrInvalid, agent)
	}
	return nil
}
