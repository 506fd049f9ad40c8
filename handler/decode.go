package handler

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/strictjson"
)

// bodyErrors maps fields to the error code of an invalid value, the same in all routes. Any other
// error in a body is 40001.
var bodyErrors = strictjson.Errors{
	"":         feed.ErrInvalid,
	"action":   feed.ErrBadAction,
	"limit":    feed.ErrBadLimit,
	"id":       feed.ErrBadID,
	"ids[]":    feed.ErrBadID,
	"item":     feed.ErrBadID,
	"agent_id": feed.ErrBadID,
	"agents[]": feed.ErrBadID,

	"request_id": feed.ErrBadID,
	"mentions[]": feed.ErrBadID,
	"circles[]":  feed.ErrBadID,
	"members[]":  feed.ErrBadID,
	"readers[]":  feed.ErrBadID,
	"owner":      feed.ErrBadID,
	"item_id":    feed.ErrBadID,
}

// decode decodes a body into a struct that already holds the defaults. The filled fields must not be
// empty texts, which would be taken for the default.
func decode(body []byte, into any, filled ...string) error {
	if err := strictjson.Unmarshal(body, into, bodyErrors); err != nil || len(filled) == 0 {
		return err
	}
	return strictjson.Filled(body, feed.ErrInvalid, filled...)
}

// readJSON decodes a body of at most limit bytes into a struct, as [decode].
func (c *call) readJSON(limit int, into any, filled ...string) error {
	body, err := c.readBody(limit)
	if err != nil {
		return err
	}
	return decode(body, into, filled...)
}

// proposal is a change of the ranking's parameters in the form of GET /v1/ranking; nil if there
// is none.
type proposal []byte

func (p *proposal) UnmarshalJSON(value []byte) error {
	if value[0] != '{' {
		return errors.New(`must be an object such as {"decay":{"scale":"72h"}}`)
	}
	*p = append([]byte(nil), value...)
	return nil
}

// change is a proposal, or its equivalent as a list such as "scale=72h,offset=2h".
type change struct {
	object proposal
	list   string
}

func (c *change) UnmarshalJSON(value []byte) error {
	if value[0] == '"' {
		return json.Unmarshal(value, &c.list)
	}
	if c.object.UnmarshalJSON(value) != nil {
		return errors.New(`must be an object as in GET /v1/ranking, or a list such as "scale=72h,offset=2h"`)
	}
	return nil
}

// apply returns the live ranking with the change; name is the change's field. Side effects that
// the change did not name are added to notes.
func (c change) apply(live feed.Ranking, name string, notes *[]string) (r feed.Ranking, err error) {
	r = live
	if c.object == nil {
		r, err = live.With(c.list)
	} else if err = r.Propose(c.object); err == nil {
		err = r.Validate()
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	noteReplaced(notes, name, live.Decay, r.Decay)
	return r, nil
}

// noteReplaced adds a note if a change has replaced curves by one Gaussian.
func noteReplaced(notes *[]string, name string, was, is feed.Decay) {
	said := is.Replaced(was)
	if said != "" {
		said = name + ": " + said
		if !slices.Contains(*notes, said) {
			*notes = append(*notes, said)
		}
	}
}

// decodeQuery decodes the query parameters into a struct by the rules for bodies: only known
// names, each once, and whole numbers unquoted.
func (c *call) decodeQuery(into any) error {
	c.asked = true
	values, err := url.ParseQuery(c.gin.Request.URL.RawQuery)
	if err != nil {
		return fmt.Errorf("%w: the query string is malformed: %w", feed.ErrInvalid, err)
	}
	var members []string
	for name, texts := range values {
		for _, text := range texts {
			value := feed.AppendString(nil, text)
			if isNumber(text) {
				value = []byte(text)
			}
			members = append(members, string(feed.AppendString(nil, name))+":"+string(value))
		}
	}
	if err := decode([]byte("{"+strings.Join(members, ",")+"}"), into); err != nil {
		return cmp.Or(wrongParameter(values, strictjson.Names(into)), fmt.Errorf("in the query: %w", err))
	}
	return nil
}

// wrongParameter returns an error if a query parameter is not known, or is given more than once.
func wrongParameter(values url.Values, known []string) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case len(known) == 0:
			return fmt.Errorf("%w: unknown query parameter %.64q; this route has none", feed.ErrInvalid, name)
		case !slices.Contains(known, name):
			return fmt.Errorf("%w: unknown query parameter %.64q; known are %s", feed.ErrInvalid, name, strings.Join(known, ", "))
		case len(values[name]) > 1:
			return fmt.Errorf("%w: duplicate query parameter %.64q", feed.ErrInvalid, name)
		}
	}
	return nil
}

// noQuery refuses query parameters, unless the route has read them: what a route ignores, the caller
// has misspelt or relies on.
func (c *call) noQuery() error {
	if c.asked || c.gin.Request.URL.RawQuery == "" {
		return nil
	}
	return c.decodeQuery(&struct{}{})
}

func isNumber(text string) bool {
	if text == "" || text[0] == '"' {
		return false
	}
	var n json.Number
	err := json.Unmarshal([]byte(text), &n)
	return err == nil && n != ""
}
