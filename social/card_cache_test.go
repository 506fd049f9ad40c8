package social_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// shelf is a store and a cache; err is the error of the cache.
type shelf struct {
	social.CardCache
	mu    sync.Mutex
	cards []social.Card
	kept  []string // ids and versions
	err   error
}

func (s *shelf) Cards(context.Context, string, []social.PostVersion) ([]social.Card, error) {
	return s.cards, nil
}

func (s *shelf) Put(_ context.Context, cards []social.Card) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range cards {
		s.kept = append(s.kept, fmt.Sprint(c.ID, " ", c.Version))
	}
	return s.err
}

func (s *shelf) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.kept
	s.kept = nil
	return list
}

func publicCard(id string) social.Card {
	return social.Card{ID: id, Visible: true, Public: true, Version: 1, Content: json.RawMessage(`{}`)}
}

func TestCardCacheWriterSkipsRecent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		closed, unread, suspended := publicCard("post:closed"), publicCard("post:unread"), publicCard("post:suspended")
		closed.Public, unread.Content, suspended.Suspended = false, nil, true
		s := &shelf{cards: []social.Card{publicCard("post:a"), closed, unread, suspended, {ID: "post:gone"}}}
		k := social.NewCardCacheWriter(s, s, time.Now, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		go k.Run(ctx)
		read := func() []string {
			_, err := k.Cards(ctx, "reader", nil)
			require.NoError(t, err)
			synctest.Wait()
			return s.take()
		}
		assert.Equal(t, []string{"post:a 1"}, read())
		assert.Empty(t, read(), "lately")
		s.cards[0].Version = 2
		assert.Equal(t, []string{"post:a 2"}, read(), "edited")
		time.Sleep(social.CardTTL/2 - time.Nanosecond)
		assert.Empty(t, read(), "lately")
		time.Sleep(time.Nanosecond)
		assert.Equal(t, []string{"post:a 2"}, read(), "before it expires")
		time.Sleep(social.CardTTL / 2)
		s.err = errors.New("away")
		assert.Equal(t, []string{"post:a 2"}, read())
		s.err = nil
		assert.Equal(t, []string{"post:a 2"}, read(), "what failed is no keeping")
		stop()
		synctest.Wait()
	})
}

// asking records the posts that a store is queried for, and the readers.
type asking struct {
	*shelf
	asked []string
}

func (a *asking) Cards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	for _, p := range posts {
		a.asked = append(a.asked, reader+">"+p.ID)
	}
	return a.shelf.Cards(ctx, reader, posts)
}

// TestCardCacheWriterAhead checks that posts not known to be cached are read for an anonymous
// reader, so that a post that is not public is not even read, and that the others are cached.
func TestCardCacheWriterAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &asking{shelf: &shelf{cards: []social.Card{publicCard("post:a"), {ID: "post:closed"}}}}
		k := social.NewCardCacheWriter(s, s, time.Now, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		go k.Run(ctx)
		ahead := func(want int) {
			t.Helper()
			s.asked = nil
			require.NoError(t, k.CacheAhead(ctx, []string{"post:a", "post:closed"}))
			require.Len(t, s.asked, want)
			synctest.Wait()
		}
		ahead(2)
		assert.Equal(t, []string{">post:a", ">post:closed"}, s.asked)
		assert.Equal(t, []string{"post:a 1"}, s.take())
		ahead(1)
		assert.Equal(t, []string{">post:closed"}, s.asked, "the other one is kept")
		time.Sleep(social.CardTTL/2 - time.Nanosecond)
		ahead(1)
		time.Sleep(time.Nanosecond)
		ahead(2)
		assert.Equal(t, []string{"post:a 1"}, s.take(), "before it expires")
		s.asked = nil
		require.NoError(t, k.CacheAhead(ctx, nil))
		assert.Empty(t, s.asked)
		stop()
		synctest.Wait()
	})
}

// BenchmarkKeeper measures what the keeper adds to the cost of a page of 20 posts that were cached
// recently.
func BenchmarkKeeper(b *testing.B) {
	s := &shelf{}
	for i := range 20 {
		s.cards = append(s.cards, publicCard(fmt.Sprint("post:", i)))
	}
	k := social.NewCardCacheWriter(s, s, time.Now, slog.New(slog.DiscardHandler))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Cards(b.Context(), "", nil); err != nil {
			b.Fatal(err)
		}
	}
}
