package handler

import (
	"bytes"
	"encoding/json"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// appendExplained appends an item of an answer that says why its items are there.
// The reasons stand in in_feed, which only posts have without any.
func appendExplained(b []byte, a *engine.Answer, i int) []byte {
	doc := a.Docs[i]
	var why []engine.Reason
	if len(a.Why) > 0 {
		why = a.Why[i]
	}
	text, end, begin := []byte(doc.JSON), "}}", `,`
	if !feed.IsPost(doc.ID) {
		text, end, begin = withoutInFeed(text), "}", `,"`+feed.InFeed+`":{`
	} // a post's document ends with its in_feed, see [social.Card.AppendEntry]
	head, ok := bytes.CutSuffix(text, []byte(end))
	if len(why) == 0 || !ok {
		return append(b, text...)
	}
	b = append(append(b, head...), begin...)
	b = appendReasons(b, why)
	return append(b, "}}"...)
}

func appendReasons(b []byte, why []engine.Reason) []byte {
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
