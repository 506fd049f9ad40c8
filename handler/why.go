package handler

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

// inFeed is what an answer says of an item, beside the item.
type inFeed struct {
	source string // what brought it; "": nothing is said
	trend  string
	shown  bool // before
	why    []api.Reason
}

// appendExplained appends an item of an answer that says what brought its items, which
// trend, which were shown before or why they are there.
func appendExplained(b []byte, a *engine.Answer, i int) []byte {
	var in inFeed
	if len(a.Why) > 0 {
		in.why = a.Why[i]
	}
	if len(a.Refs) > 0 {
		in.source, in.shown = a.Refs[i].Source.String(), a.Refs[i].ShownBefore
	}
	if len(a.Trends) > 0 {
		in.trend = a.Trends[i].Mark()
	}
	return appendInFeed(b, a.Docs[i], in, feed.IsPost(a.Docs[i].ID))
}

// appendInFeed appends an item with what is said of it in in_feed, which only a post for
// a reader has already.
func appendInFeed(b []byte, doc feed.Doc, in inFeed, has bool) []byte {
	text, end, begin := []byte(doc.JSON), "}", `,"`+feed.InFeed+`":{`
	if has {
		end, begin = "}}", ","
		if in.source != "" { // a post's document ends with its in_feed, see [social.Card.AppendEntry]
			text, in.source = withSource(text, in.source), ""
		}
	} else if !feed.IsPost(doc.ID) {
		text = withoutInFeed(text)
	}
	head, ok := bytes.CutSuffix(text, []byte(end))
	promoted := in.source == feed.SourcePromoted.String() // of an item: a post says so where its source stands
	if len(in.why) == 0 && in.source == "" && in.trend == "" && !in.shown || !ok {
		return append(b, text...)
	}
	b = append(append(b, head...), begin...)
	if in.source != "" {
		b = append(append(append(b, `"source":"`...), in.source...), `",`...) // a constant
	}
	if in.trend != "" {
		b = append(append(append(b, `"trend":"`...), in.trend...), `",`...) // a constant, too
	}
	if promoted {
		b = append(b, `"is_promoted":true,`...)
	}
	if in.shown {
		b = append(b, `"shown_before":true,`...)
	}
	if len(in.why) > 0 {
		b = append(appendReasons(b, in.why), ',')
	}
	return append(b[:len(b)-1], "}}"...)
}

// What the catalog says of a post: its source, and behind it that it is not promoted.
const (
	fromDiscovery = `"source":"` + social.FromDiscovery + `"`
	notPromoted   = `"is_promoted":false`
)

// withSource puts another source in the place of the one that a post's in_feed has. In
// in_feed nothing is a reader's or an author's text.
func withSource(post []byte, source string) []byte {
	at := bytes.LastIndex(post, []byte(fromDiscovery))
	if at < 0 {
		return post
	}
	tail := post[at+len(fromDiscovery):]
	if source == feed.SourcePromoted.String() {
		tail = bytes.Replace(tail, []byte(notPromoted), []byte(`"is_promoted":true`), 1)
	}
	return slices.Concat(post[:at], []byte(`"source":"`+source+`"`), tail)
}

func appendReasons(b []byte, why []api.Reason) []byte {
	b = append(b, `"why":[`...)
	for i, r := range why {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"`...)
		b = append(b, r.Type...) // a constant
		b = append(b, '"')
		if r.Value != "" {
			b = append(b, `,"value":`...)
			b = appendString(b, r.Value)
		}
		if r.Kind != "" {
			b = append(append(append(b, `,"kind":"`...), r.Kind...), '"') // a constant, too
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

var inFeedName = []byte(`"` + feed.InFeed + `"`)

// withoutInFeed takes the field off an item that was stored before the name was
// reserved: it would stand there twice, or pass for what this answer says.
func withoutInFeed(item []byte) []byte {
	if !bytes.Contains(item, inFeedName) {
		return item
	}
	var it feed.Item
	if json.Unmarshal(item, &it) != nil || it.Business[feed.InFeed] == nil {
		return item
	}
	delete(it.Business, feed.InFeed)
	data, err := json.Marshal(it)
	if err != nil {
		return item
	}
	return data
}
