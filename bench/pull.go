package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"
)

// pullText reads a timeline with one query. A plain ordered join sorts all posts of all
// followees: with a thousand followees it takes seconds.
const pullText = `SELECT p.content FROM follows f CROSS JOIN LATERAL
		(SELECT content, created_at, id FROM posts WHERE author = f.author AND gone = 0 ORDER BY created_at DESC, id DESC LIMIT 20) p
		WHERE f.agent = $1 AND f.gone = 0 ORDER BY p.created_at DESC, p.id DESC LIMIT 20`

// pagesPulled compares pages from lists with the same timelines from one query.
func (b *bench) pagesPulled(ctx context.Context, s *system) (results []Result, err error) {
	addr, stop, err := bare(ctx, func(c *gin.Context) {
		cards, err := rowsOf(c.Request.Context(), b.services.postgres, pullText, c.GetHeader("X-Agent-ID"))
		if err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		writePage(c, cards)
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, n := range b.people().many(pullSizes...) {
		agents := names(few, func(i int) string { return follower(n, i) })
		if _, err := ask(ctx, s.addr, timelinePath, agents...); err != nil {
			return results, err
		}
		totals, err := b.compare(ctx, b.rounds(),
			b.reading("bare gin, one query", addr, timelinePath, agents),
			b.reading("freshet", s.addr, timelinePath, agents))
		if err != nil {
			return results, err
		}
		results = append(results, Result{
			What:    fmt.Sprintf("%d clients over loopback HTTP, first pages of %d, beside a pull, readers of %d authors", clients, page, n),
			Cases:   measured(totals),
			Ratios:  []Ratio{ratio(totals[1], totals[0])},
			Figures: []Value{{"followees", float64(n), ""}},
		})
	}
	return results, nil
}
