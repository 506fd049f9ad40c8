package handler

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

const (
	// MaxItems is the largest limit of a list of items, each of which may be large.
	MaxItems     = 200
	defaultItems = 100
)

// itemsQuery are the parameters of GET /v1/items.
type itemsQuery struct {
	Author queryText `json:"author"`
	Tag    queryText `json:"tag"`
	Since  int64     `json:"since"`
	Cursor queryText `json:"cursor"`
	Limit  int       `json:"limit"`
}

func (q itemsQuery) selection() (catalog.Selection, error) {
	s := catalog.Selection{Author: string(q.Author), Tag: string(q.Tag), Since: q.Since, Cursor: string(q.Cursor), Limit: q.Limit}
	if q.Since < 0 || q.Since > feed.MaxItemTime {
		return s, fmt.Errorf("%w: since must be Unix seconds from 0 to %d, not %d", feed.ErrInvalid, int64(feed.MaxItemTime), q.Since)
	}
	return s, feed.CheckLimit(q.Limit, MaxItems)
}

// itemList is the data of GET /v1/items.
type itemList struct {
	Items []json.RawMessage `json:"items"`
	Next  *string           `json:"next_cursor"` // null: this is the last page
}

// getItems answers GET /v1/items with a page of the stored items.
func (s *server) getItems(c *call) error {
	ask := itemsQuery{Limit: defaultItems}
	if err := c.decodeQuery(&ask); err != nil {
		return err
	}
	selected, err := ask.selection()
	if err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		page, err := s.deps.List.List(ctx, selected)
		data := itemList{Items: make([]json.RawMessage, len(page.Items))}
		for i, doc := range page.Items {
			data.Items[i] = doc.JSON
		}
		if page.Next != "" {
			data.Next = &page.Next
		}
		return data, err
	})
}
