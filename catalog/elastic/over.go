package elastic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// encodeOver returns the new document of a changed item. In a document that others may have
// written it changes only the fields that differ: a list of which the item has one value, a
// date in another format and objects stay as they are.
func encodeOver(s *esindex.Schema, source []byte, before, after *feed.Item, counts feed.Counts) ([]byte, error) {
	if !s.ByOthers() {
		return encode(s, after, counts)
	}
	doc := map[string]json.RawMessage{}
	if err := json.Unmarshal(source, &doc); err != nil {
		return nil, fmt.Errorf("item %s: %w", after.ID, err)
	}
	if err := overBusiness(s, doc, before, after); err != nil {
		return nil, err
	}
	if err := apply(doc, changes(s, before, after, counts)); err != nil {
		return nil, err
	}
	return catalog.EncodeObject(doc)
}

// apply changes fields of a document.
func apply(doc map[string]json.RawMessage, changes []change) error {
	for _, f := range changes {
		if f.name == esindex.None {
			continue
		}
		taken := take(doc, f.name)
		for taken != nil { // in each of its forms
			taken = take(doc, f.name)
		}
		if f.value == nil {
			continue
		}
		value, err := json.Marshal(f.value)
		if err != nil {
			return feed.Errorf(feed.ErrInvalid, "bad item: %w", err)
		}
		doc[f.name] = value
	}
	return nil
}

// overBusiness changes the business fields of a document.
func overBusiness(s *esindex.Schema, doc map[string]json.RawMessage, before, after *feed.Item) error {
	changed := feed.Item{Business: map[string]json.RawMessage{}}
	for name, value := range after.Business {
		if !bytes.Equal(value, before.Business[name]) {
			changed.Business[name] = value
		}
	}
	for name := range before.Business {
		if after.Business[name] == nil {
			changed.Business[name] = nil
		}
	}
	if err := checkBusiness(s, &changed); err != nil {
		return err
	}
	for name, value := range changed.Business {
		if value == nil {
			delete(doc, name)
		} else {
			doc[name] = value
		}
	}
	return nil
}

// changes returns the changes of the item's fields and of Freshet's own fields in a document.
func changes(s *esindex.Schema, before, after *feed.Item, counts feed.Counts) (all []change) {
	n := &s.Source
	set := func(name string, value any) { all = append(all, change{name, value}) }
	if before.ID != after.ID && !s.MetaID() {
		set(n.ID, after.ID)
	}
	for _, f := range []struct {
		name          string
		before, after any
		replaced      bool // several values by one or none
	}{
		{n.GroupID, before.GroupID, after.GroupID, false},
		{n.Title, before.Title, after.Title, false},
		{n.Summary, before.Summary, after.Summary, false},
		{n.URL, before.URL, after.URL, false},
		{n.ImageURL, before.ImageURL, after.ImageURL, false},
		{n.AuthorID, before.AuthorID, after.AuthorID, len(before.AuthorIDs) > len(after.AuthorIDs)},
		{n.Lang, before.Lang, after.Lang, len(before.Langs) > len(after.Langs)},
		{n.Popularity, before.Popularity(), after.Popularity(), false},
		{n.Likes, before.Likes, after.Likes, false},
		{n.Comments, before.Comments, after.Comments, false},
		{n.TitleTokens, tokens(before.Title), tokens(after.Title), false},
		{n.SummaryTokens, tokens(before.Summary), tokens(after.Summary), false},
	} {
		switch {
		case f.before == f.after && !f.replaced:
		case f.after == "":
			set(f.name, nil)
		default:
			set(f.name, f.after)
		}
	}
	if !slices.Equal(before.Tags, after.Tags) {
		set(n.Tags, nil)
		if len(after.Tags) > 0 {
			set(n.Tags, after.Tags)
		}
	}
	if before.UpdateTime != after.UpdateTime {
		set(n.UpdateTime, s.Time.Stored(after.UpdateTime))
	}
	for _, f := range derived(s, before) {
		set(f.name, nil)
	}
	return slices.Concat(all, derived(s, after), withoutMore(s), liveFields(s, counts))
}
