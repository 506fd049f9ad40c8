package handler

import (
	"encoding/json"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/strictjson"
)

// mergePatch is a JSON merge patch (RFC 7396) of a T.
type mergePatch[T any] struct {
	members map[string]json.RawMessage
	nulls   map[string]bool // the fields that it removes
}

// patchOf reads a patch of at most limit bytes. It must be valid as the body of a PUT, too, where
// null is the same as leaving a field out.
func patchOf[T any](limit int) input[mergePatch[T]] {
	return func(c *call) (*mergePatch[T], error) {
		body, err := c.readBody(limit)
		if err != nil {
			return nil, err
		}
		if err := decode(body, new(T)); err != nil {
			return nil, err
		}
		p := &mergePatch[T]{nulls: map[string]bool{}}
		if p.members, err = strictjson.Members(body, feed.ErrInvalid); err != nil {
			return nil, err
		}
		for name, value := range p.members {
			p.members[name] = append(json.RawMessage(nil), value...) // the buffer of the call may be used again
			p.nulls[name] = value[0] == 'n'
		}
		return p, nil
	}
}

// apply returns a stored value with the patch.
func (p *mergePatch[T]) apply(stored T) (out T, err error) {
	before, err := json.Marshal(stored)
	if err != nil {
		return out, err
	}
	after, err := catalog.MergePatch(before, p.members)
	if err != nil {
		return out, err
	}
	return out, decode(after, &out)
}
