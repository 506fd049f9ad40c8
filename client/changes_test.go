package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
)

// changeable is a server that stores the last change and answers the first call as the test
// specifies.
type changeable struct {
	last  string
	calls []string
	first func() int // returns the status of the first call, after any delay
}

func (s *changeable) client(t *testing.T, options ...client.Option) *client.Client {
	return connect(t, "http://server", append(options, client.WithAgent("a"), client.WithHTTPClient(&http.Client{
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			call := r.Method
			if r.Body != nil {
				body, _ := io.ReadAll(r.Body)
				call += " " + string(body)
			}
			s.calls = append(s.calls, call)
			status := 200
			if len(s.calls) == 1 {
				status = s.first()
			}
			if status == 200 {
				s.last = call
			}
			w := httptest.NewRecorder()
			answer(w, status, `{"code":0,"data":{"changed":true}}`)
			return w.Result(), nil
		}),
	}))...)
}

type changing func(ctx context.Context, c *client.Client) error

// likes returns pairs of changes, each with the change that undoes it.
func likes() map[string][2]changing {
	done := func(_ any, err error) error { return err }
	pairs := map[string][2]changing{
		"like": {
			func(ctx context.Context, c *client.Client) error { return done(c.LikePost(ctx, "p")) },
			func(ctx context.Context, c *client.Client) error { return done(c.UnlikePost(ctx, "p")) },
		},
		"follow": {
			func(ctx context.Context, c *client.Client) error { return done(c.Follow(ctx, "a", "b")) },
			func(ctx context.Context, c *client.Client) error { return done(c.Unfollow(ctx, "a", "b")) },
		},
		"block": {
			func(ctx context.Context, c *client.Client) error { return done(c.Block(ctx, "a", "b")) },
			func(ctx context.Context, c *client.Client) error { return done(c.Unblock(ctx, "a", "b")) },
		},
		"mute": {
			func(ctx context.Context, c *client.Client) error {
				return done(c.Mute(ctx, "a", client.MutedTags, "b"))
			},
			func(ctx context.Context, c *client.Client) error {
				return done(c.Unmute(ctx, "a", client.MutedTags, "b"))
			},
		},
		"mute for a time": {
			func(ctx context.Context, c *client.Client) error {
				return done(c.MuteUntil(ctx, "a", client.MutedWords, "b", time.Now().Add(time.Hour)))
			},
			func(ctx context.Context, c *client.Client) error {
				return done(c.Unmute(ctx, "a", client.MutedWords, "b"))
			},
		},
		"membership": {
			func(ctx context.Context, c *client.Client) error { return done(c.AddMember(ctx, "a", "b")) },
			func(ctx context.Context, c *client.Client) error { return done(c.RemoveMember(ctx, "a", "b")) },
		},
	}
	for name, pair := range pairs {
		pairs["un"+name] = [2]changing{pair[1], pair[0]}
	}
	return pairs
}

// TestRetryOfSupersededChange: the answer to a change is an error or late, and the change
// is undone meanwhile; a retry must not repeat it.
func TestRetryOfSupersededChange(t *testing.T) {
	t.Parallel()
	for name, pair := range likes() {
		for when, first := range map[string]func() int{
			"it waits for another try": func() int { return 503 },
			"its answer is late":       func() int { time.Sleep(10 * time.Second); return 200 },
			"its answer is late, bad":  func() int { time.Sleep(10 * time.Second); return 503 },
		} {
			t.Run(name+": "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &changeable{first: first}
					c := s.client(t, client.WithRetries(5, time.Minute))
					older := make(chan error, 1)
					go func() { older <- pair[0](t.Context(), c) }()
					synctest.Wait()
					require.NoError(t, pair[1](t.Context(), c.As("a")))
					if err := <-older; when != "its answer is late" {
						require.ErrorIs(t, err, client.ErrSuperseded)
					}
					require.Len(t, s.calls, 2)
					assert.Equal(t, s.calls[1], s.last)
				})
			})
		}
	}
}

func TestSupersededChangeNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &changeable{first: func() int { time.Sleep(time.Second); return 200 }}
		c := s.client(t)
		ctx, cancel := context.WithCancel(t.Context())
		results := make([]chan error, 3)
		for i, do := range []changing{likes()["like"][0], likes()["like"][1], likes()["like"][0]} {
			results[i] = make(chan error, 1)
			mine := t.Context()
			if i == 2 {
				mine = ctx
			}
			go func() { results[i] <- do(mine, c) }()
			synctest.Wait()
		}
		cancel()
		require.ErrorIs(t, <-results[2], context.Canceled)
		require.ErrorIs(t, <-results[1], client.ErrSuperseded)
		require.NoError(t, <-results[0])
		assert.Equal(t, []string{"PUT"}, s.calls)
		_, err := c.As("b").LikePost(t.Context(), "p")
		require.NoError(t, err, "nothing of it is left")
	})
}

// TestPartialChangesAllSent checks that partial changes are all made, in order: a later merge
// patch does not replace an earlier one.
func TestPartialChangesAllSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &changeable{first: func() int { return 503 }}
		c := s.client(t, client.WithRetries(5, time.Second))
		done := make(chan error, 2)
		for _, lang := range []string{"en", "de"} {
			go func() {
				_, err := c.PatchProfile(t.Context(), "a", map[string]any{"lang": lang})
				done <- err
			}()
			synctest.Wait()
		}
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		assert.Equal(t, []string{`PATCH {"lang":"en"}`, `PATCH {"lang":"en"}`, `PATCH {"lang":"de"}`}, s.calls)
	})
}
