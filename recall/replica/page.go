package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/valyala/fastjson"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// Bounds of the number of documents read at once, and of the time for them. Nobody waits for them,
// so they may take longer than a call of a reader.
const (
	mostPage  = 5000
	leastPage = 50
	pageTime  = 30 * time.Second
)

// place is a shard and the node to search it on.
type place struct {
	shard int
	node  string
}

// span is a range of sequence numbers, after the first and up to the last.
type span struct{ after, to int64 }

// page is a page of documents, in the order of their last changes.
type page struct {
	items  []feed.Item // only what recall uses
	others []string    // ids of documents that are no valid items
	counts map[string]feed.Counts
	hits   int   // documents, those that are no items included
	last   int64 // sequence number of the last one
}

type object = map[string]any

// page reads the first documents of a shard whose last change is in the span.
func (f *follower) page(ctx context.Context, s *esindex.Schema, at place, of span, size int) (page, error) {
	n := &s.Source
	source := []string{
		n.ID, n.GroupID, n.Title, n.Summary, n.URL, n.AuthorID, n.Lang, n.Tags, n.UpdateTime, n.Likes, n.Comments,
		n.Sum2h, n.Epoch2h, n.Sum2d, n.Epoch2d, n.LastAct,
	}
	for h := range s.More.All() {
		more := esindex.MoreFieldsOf(h)
		source = append(source, more.Sum, more.Epoch)
	}
	var p page
	err := f.changes(ctx, at, of, object{"size": size, "_source": source}, func(hits []*fastjson.Value) error {
		p = decodePage(s, hits)
		return nil
	})
	return p, err
}

// changes searches a shard for the documents whose last change is in the span, in the order of these
// changes. request holds further parts of the search. read must not retain the hits.
func (f *follower) changes(ctx context.Context, at place, of span, request object, read func(hits []*fastjson.Value) error) error {
	request["query"] = object{"range": object{"_seq_no": object{"gt": of.after, "lte": of.to}}}
	request["sort"] = []string{"_seq_no"}
	return f.search(ctx, at, request, read)
}

// search searches a shard.
func (f *follower) search(ctx context.Context, at place, request object, read func(hits []*fastjson.Value) error) error {
	ctx, cancel := context.WithTimeout(ctx, max(pageTime, f.cfg.Timeout))
	defer cancel()
	request["track_total_hits"] = false
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	params := fmt.Sprintf("preference=_shards:%d%%7C_only_nodes:%s&allow_partial_search_results=false&filter_path=error,status,hits.hits.sort,hits.hits._source,hits.hits.fields", at.shard, at.node)
	return esindex.Do(ctx, f.client, http.MethodPost, "/"+f.cfg.Index+"/_search", params, body, func(data []byte) error {
		var parser fastjson.Parser
		answer, err := parser.ParseBytes(data)
		if err != nil {
			return fmt.Errorf("decode the elasticsearch response: %w", err)
		}
		return read(answer.GetArray("hits", "hits"))
	})
}

// lastChange returns the sequence number of the last hit.
func lastChange(hits []*fastjson.Value) int64 {
	if len(hits) == 0 {
		return 0
	}
	return hits[len(hits)-1].GetInt64("sort", "0")
}

func decodePage(s *esindex.Schema, hits []*fastjson.Value) page {
	p := page{hits: len(hits), last: lastChange(hits), items: make([]feed.Item, 0, len(hits)), counts: map[string]feed.Counts{}}
	for _, h := range hits {
		source := h.Get("_source")
		it, ok := decodeItem(s, source)
		if !ok {
			p.others = append(p.others, it.ID)
			continue
		}
		p.items = append(p.items, it)
		c := decodeCounts(s, source)
		if c.Last != 0 {
			p.counts[it.ID] = c
		}
	}
	return p
}

// decodeItem decodes the fields that recall uses. It reports false for a document that recall by
// Elasticsearch leaves out, because its id, group or time is missing or invalid.
func decodeItem(s *esindex.Schema, v *fastjson.Value) (feed.Item, bool) {
	n := &s.Source
	it := feed.Item{
		ID: text(v, n.ID), GroupID: text(v, n.GroupID), Title: text(v, n.Title), Summary: text(v, n.Summary),
		URL: text(v, n.URL), AuthorID: text(v, n.AuthorID), Lang: text(v, n.Lang), Tags: texts(v, n.Tags),
		Likes: v.GetInt64(n.Likes), Comments: v.GetInt64(n.Comments),
	}
	if feed.CheckItemID(it.ID) != nil || it.GroupID != "" && feed.CheckItemID(it.GroupID) != nil {
		return it, false
	}
	at := v.Get(n.UpdateTime)
	if at == nil {
		return it, false
	}
	var err error
	if it.UpdateTime, err = at.Int64(); err != nil {
		it.UpdateTime, err = s.Time.FromSource(at.MarshalTo(nil))
	}
	return it, err == nil
}

func text(v *fastjson.Value, name string) string { return string(v.GetStringBytes(name)) }

// texts returns the values of a field with one value or a list.
func texts(v *fastjson.Value, name string) []string {
	field := v.Get(name)
	if field == nil {
		return nil
	}
	if field.Type() == fastjson.TypeString {
		return []string{text(v, name)}
	}
	list := field.GetArray()
	out := make([]string, 0, len(list))
	for _, one := range list {
		out = append(out, string(one.GetStringBytes()))
	}
	return out
}

// decodeCounts decodes the live popularity; the zero value means none.
func decodeCounts(s *esindex.Schema, v *fastjson.Value) feed.Counts {
	n := &s.Source
	if v.Get(n.Sum2h) == nil {
		return feed.Counts{}
	}
	short := feed.Sum{Epoch: v.GetInt64(n.Epoch2h), Value: number(v.Get(n.Sum2h))}
	long := feed.Sum{Epoch: v.GetInt64(n.Epoch2d), Value: number(v.Get(n.Sum2d))}
	c := feed.CountsOf(short, long, v.GetInt64(n.LastAct))
	c.More = decodeMore(s, v)
	return c
}

// decodeMore decodes the sums of further half-lives; nil means none.
func decodeMore(s *esindex.Schema, v *fastjson.Value) *feed.MoreSums {
	var sums *feed.MoreSums
	for h := range s.More.All() {
		more := esindex.MoreFieldsOf(h)
		value := v.Get(more.Sum)
		if value == nil {
			continue
		}
		if sums == nil {
			sums = &feed.MoreSums{}
		}
		sums[h.Index] = h.MoreSum(feed.Sum{Epoch: v.GetInt64(more.Epoch), Value: number(value)})
	}
	return sums
}

// number parses a number exactly, which fastjson does not.
func number(v *fastjson.Value) float64 {
	if v == nil {
		return 0
	}
	f, err := strconv.ParseFloat(string(v.MarshalTo(nil)), 64)
	if err != nil {
		return 0
	}
	return f
}
