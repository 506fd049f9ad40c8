package socialtest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

func promotions(e *env) {
	at := e.now.Unix()
	a := social.Promotion{ID: "a", ItemID: "item:1", From: at, Until: at + 10, Weight: 0.1}
	b := social.Promotion{ID: "B", ItemID: "post:1", From: at - 100, Until: at, Weight: 1e9, Tags: []string{"go", "ünicode ' \"", "go-1"}, Langs: []string{"en"}}
	one := func(id string) social.Promotion { return must[social.Promotion](e)(e.Promotion(e.ctx, id)) }
	list := func(after string, n int) []social.Promotion {
		return must[[]social.Promotion](e)(e.Promotions(e.ctx, after, n))
	}
	_, err := e.Promotion(e.ctx, "a")
	require.ErrorIs(e, err, feed.ErrNotFound)
	require.Empty(e, list("", 10))
	for range 2 { // a write may be repeated
		e.ok(e.PutPromotion(e.ctx, a))
		e.ok(e.PutPromotion(e.ctx, b))
	}
	require.Equal(e, a, one("a"))
	require.Equal(e, b, one("B"))
	require.Equal(e, []social.Promotion{b, a}, list("", 10), "ordered by the bytes of the id")
	require.Equal(e, []social.Promotion{b}, list("", 1))
	require.Equal(e, []social.Promotion{a}, list("B", 1))
	require.Empty(e, list("a", 1))

	until := func(after int64) []social.Promotion {
		return must[[]social.Promotion](e)(e.PromotionsUntil(e.ctx, time.Unix(after, 0)))
	}
	require.Equal(e, []social.Promotion{b, a}, until(at-1))
	require.Equal(e, []social.Promotion{a}, until(at), "a promotion that ends at the time does not end after it")
	require.Empty(e, until(at+10))

	changed := social.Promotion{ID: "B", ItemID: "item:2", From: at, Until: at + 5, Weight: 1e-9}
	e.ok(e.PutPromotion(e.ctx, changed))
	require.Equal(e, changed, e.again().promotion("B"), "as another server reads it")
	e.ok(e.DeletePromotion(e.ctx, "B"))
	require.ErrorIs(e, e.DeletePromotion(e.ctx, "B"), feed.ErrNotFound)
	require.Equal(e, []social.Promotion{a}, list("", 10))
}

// again returns an env with the same place, opened by another server.
func (e *env) again() *env {
	return &env{T: e.T, Backend: e.place.Open(), ctx: e.ctx, place: e.place, now: e.clock()}
}

func (e *env) promotion(id string) social.Promotion {
	e.Helper()
	return must[social.Promotion](e)(e.Promotion(e.ctx, id))
}

func badPromotions(e *env) {
	good := social.Promotion{ID: "a", ItemID: "item:1", From: 1, Until: 2, Weight: 1}
	e.ok(e.PutPromotion(e.ctx, good))
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for name, tt := range map[string]struct {
		change func(*social.Promotion)
		is     error
		says   string
	}{
		"id":         {func(p *social.Promotion) { p.ID = "a b" }, feed.ErrBadID, "the id of a promotion"},
		"item":       {func(p *social.Promotion) { p.ItemID = "" }, feed.ErrBadID, "item_id"},
		"post":       {func(p *social.Promotion) { p.ItemID = "post:" }, feed.ErrBadID, "item_id"},
		"from":       {func(p *social.Promotion) { p.From = 0 }, feed.ErrInvalid, "from must"},
		"until":      {func(p *social.Promotion) { p.Until = math.MaxInt64 }, feed.ErrInvalid, "until must"},
		"no time":    {func(p *social.Promotion) { p.From = 2 }, feed.ErrInvalid, "until must be after from"},
		"no weight":  {func(p *social.Promotion) { p.Weight = 0 }, feed.ErrInvalid, "weight must be 1e-09 to 1e+09"},
		"negative":   {func(p *social.Promotion) { p.Weight = -1 }, feed.ErrInvalid, "weight"},
		"not number": {func(p *social.Promotion) { p.Weight = math.NaN() }, feed.ErrInvalid, "weight"},
		"infinite":   {func(p *social.Promotion) { p.Weight = math.Inf(1) }, feed.ErrInvalid, "weight"},
		"tags":       {func(p *social.Promotion) { p.Tags = many }, feed.ErrInvalid, "65 tags, at most 64"},
		"empty tag":  {func(p *social.Promotion) { p.Tags = []string{" "} }, feed.ErrInvalid, "an entry of tags is empty"},
		"NUL":        {func(p *social.Promotion) { p.Tags = []string{"a\x00"} }, feed.ErrInvalid, "NUL"},
		"langs":      {func(p *social.Promotion) { p.Langs = many }, feed.ErrInvalid, "65 langs"},
		"long lang":  {func(p *social.Promotion) { p.Langs = []string{strings.Repeat("x", 257)} }, feed.ErrInvalid, "257 characters"},
	} {
		p := good
		tt.change(&p)
		err := e.PutPromotion(e.ctx, p)
		require.ErrorIs(e, err, tt.is, name)
		require.ErrorContains(e, err, tt.says, name)
	}
	require.Equal(e, []social.Promotion{good}, must[[]social.Promotion](e)(e.Promotions(e.ctx, "", 10)))
}

func promotionLimit(e *env) {
	at := e.now.Unix()
	p := social.Promotion{ItemID: "i", From: at, Until: at + 10, Weight: 1}
	for i := range social.MaxPromotions {
		p.ID = fmt.Sprint(i)
		e.ok(e.PutPromotion(e.ctx, p))
	}
	e.ok(e.PutPromotion(e.ctx, p)) // replaces itself
	more := p
	more.ID = "more"
	require.ErrorIs(e, e.PutPromotion(e.ctx, more), feed.ErrLimit)
	over := more
	over.From, over.Until = at-1, at
	e.ok(e.PutPromotion(e.ctx, over)) // it has ended
	require.ErrorIs(e, e.PutPromotion(e.ctx, more), feed.ErrLimit, "the ended promotion would become active again")
	e.ok(e.DeletePromotion(e.ctx, "0"))
	e.ok(e.PutPromotion(e.ctx, more))
	e.pass(10 * time.Second)
	more.ID, more.Until = "later", at+20
	e.ok(e.PutPromotion(e.ctx, more)) // all others have ended
	require.Len(e, must[[]social.Promotion](e)(e.PromotionsUntil(e.ctx, e.now)), 1)
}
