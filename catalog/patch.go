package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/strictjson"
)

// Patch changes fields of a stored item with a JSON merge patch (RFC 7396): members replace
// fields, null removes one, objects are merged. The item is then validated like an upload and
// returned as stored. A group derived from the item's link is derived again, unless the patch
// sets one.
//
// Errors wrap [feed.ErrInvalid], [feed.ErrBadID] for the id of a post, [feed.ErrNotFound] if
// there is no such item, or [ErrUnavailable]. A patch may be repeated.
func (in *Ingest) Patch(ctx context.Context, id string, patch []byte) (feed.Item, error) {
	if feed.IsPost(id) {
		return feed.Item{}, fmt.Errorf("%w: %s is a post, which is changed by PATCH /v1/posts/{id}", feed.ErrBadID, id)
	}
	members, err := strictjson.Members(patch, feed.Errorf(feed.ErrInvalid, "bad item"))
	if err != nil {
		return feed.Item{}, err
	}
	if given, ok := members["id"]; ok {
		var same string
		if json.Unmarshal(given, &same) != nil || same != id {
			return feed.Item{}, feed.Errorf(feed.ErrInvalid, "bad item: the id of an item cannot be changed; leave it out, or delete the item and upload another")
		}
	}
	return UpdateOne(ctx, in.w, id, func(it feed.Item) (feed.Item, error) { return in.patched(it, members) })
}

// patched applies the members of a patch to an item.
func (in *Ingest) patched(it feed.Item, patch map[string]json.RawMessage) (feed.Item, error) {
	_, given := patch["group_id"]
	if !given && in.cfg.GroupByURL && it.GroupID == feed.URLGroup(it.URL) {
		it.GroupID = ""
	}
	it.AuthorIDs, it.Langs = nil, nil // the catalog preserves them
	before, err := it.MarshalJSON()
	if err != nil {
		return feed.Item{}, err
	}
	after, err := MergePatch(before, patch)
	if err != nil {
		return feed.Item{}, feed.Errorf(feed.ErrInvalid, "bad item: %w", err)
	}
	if it, err = feed.ParseItem(after); err != nil {
		return feed.Item{}, err
	}
	// Multiple authors or languages are preserved unless the patch sets the field.
	if _, ok := patch["author_id"]; ok {
		it.AuthorIDs = []string{}
	}
	if _, ok := patch["lang"]; ok {
		it.Langs = []string{}
	}
	if in.cfg.GroupByURL && it.GroupID == "" {
		it.GroupID = feed.URLGroup(it.URL)
	}
	return it, nil
}

// ProfilePatch parses a JSON merge patch (RFC 7396) of a profile and returns a function that
// applies it to a stored one. The result is validated like an uploaded profile; as there, a
// field "learned" is ignored. Muted items that the patch removes are removed. Errors of both
// wrap [feed.ErrInvalid].
func ProfilePatch(patch []byte) (apply func(*feed.Profile) error, err error) {
	members, err := strictjson.Members(patch, feed.Errorf(feed.ErrInvalid, "bad profile"))
	if err != nil {
		return nil, err
	}
	delete(members, "learned")
	return func(p *feed.Profile) error {
		before, err := json.Marshal(p)
		if err != nil {
			return err
		}
		after, err := MergePatch(before, members)
		if err != nil {
			return feed.Errorf(feed.ErrInvalid, "bad profile: %w", err)
		}
		*p, err = feed.ParseProfile(after)
		return err
	}, nil
}

// MergePatch applies a JSON merge patch (RFC 7396), given as its members, to a value; a value that is not an object counts as {}.
// Fields that the patch does not change keep their bytes, so 1.50 stays 1.50.
func MergePatch(into json.RawMessage, patch map[string]json.RawMessage) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(into) > 0 && into[0] == '{' {
		if err := json.Unmarshal(into, &fields); err != nil {
			return nil, err
		}
	}
	for name, value := range patch {
		switch value[0] {
		case 'n':
			delete(fields, name)
		case '{':
			var members map[string]json.RawMessage
			err := json.Unmarshal(value, &members)
			if err == nil {
				fields[name], err = MergePatch(fields[name], members)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		default:
			fields[name] = value
		}
	}
	return EncodeObject(fields)
}

// EncodeObject encodes an object without adding escapes to its values.
func EncodeObject(fields map[string]json.RawMessage) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(fields)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
