package handler

import (
	"bytes"
	"slices"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

// inFeed holds the in_feed fields of an item in an answer.
type inFeed struct {
	source string // source of the item; "" omits it
	trend  string
	shown  bool // shown before
	why    []api.Reason
}

// appendExplained appends an item to an answer that includes sources, trends, items shown before
// or reasons.
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

// appendInFeed appends an item with its in_feed fields. Only a post rendered for a reader already
// has in_feed.
func appendInFeed(b []byte, doc feed.Doc, in inFeed, has bool) []byte {
	text, end, begin := []byte(doc.JSON), "}", `,"`+feed.InFeed+`":{`
	if has {
		end, begin = "}}", ","
		if in.source != "" { // a post's document ends with its in_feed, see [social.Card.AppendEntry]
			text, in.source = withSource(text, in.source), ""
		}
	}
	head, ok := bytes.CutSuffix(text, []byte(end))
	promoted := in.source == feed.SourcePromoted.String() // for an item; a post has is_promoted after its source
	hasReason := len(in.why) > 0 || in.source != "" || in.trend != ""
	if !ok || !hasReason && !in.shown {
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

// Fields of in_feed in a post's stored document: its source, and after it that it is not
// promoted.
const (
	fromDiscovery = `"source":"` + social.FromDiscovery + `"`
	notPromoted   = `"is_promoted":false`
)

// withSource replaces the source in a post's in_feed. in_feed contains no text of a reader or an
// author.
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
			b = feed.AppendString(b, r.Value)
		}
		if r.Kind != "" {
			b = append(append(append(b, `,"kind":"`...), r.Kind...), '"') // a constant, too
		}
		b = append(b, '}')
	}
	return append(b, ']')
}
