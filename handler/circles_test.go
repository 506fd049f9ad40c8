package handler

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// overtaken has a store in which another agent takes the id of a circle as soon as one is put, and
// before its members are read.
type overtaken struct {
	social.Store
	t *testing.T
}

func (o overtaken) take(ctx context.Context, id string) {
	require.NoError(o.t, o.DropCircle(ctx, id, "", time.Time{}))
	_, err := o.Store.PutCircle(ctx, social.Circle{ID: id, Owner: "stranger", Name: "secret"}, []string{"friend"}, time.Time{})
	require.NoError(o.t, err)
}

func (o overtaken) PutCircle(ctx context.Context, c social.Circle, members []string, at time.Time) (social.Circle, error) {
	put, err := o.Store.PutCircle(ctx, c, members, at)
	o.take(ctx, c.ID)
	return put, err
}

func (o overtaken) CircleFor(ctx context.Context, id, agent string) (social.Circle, social.Role, error) {
	c, role, err := o.Store.CircleFor(ctx, id, agent)
	o.take(ctx, id)
	return c, role, err
}

// TestPutCircleAnswer: once a circle is stored, its id may at once belong to another
// agent, of whose circle no answer may tell.
func TestPutCircleAnswer(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, func(_ *Config, d *Deps) { d.Social.Store = overtaken{d.Social.Store, t} })
	want := `{"id":"c1","owner":"u_1","name":"Friends","size":1,"kind":"circle"}`
	require.JSONEq(t, want, string(f.do(t, "PUT", "/v1/circles/c1", `{"name":"Friends","members":["u_2"]}`, asAgent).Data))
	require.NoError(t, store.DropCircle(t.Context(), "c1", "", time.Time{}))
	require.JSONEq(t, want, string(f.do(t, "PUT", "/v1/circles/c1", `{"name":"Friends","owner":"u_1","members":["u_2"]}`, asAdmin).Data))
	require.NoError(t, store.DropCircle(t.Context(), "c1", "", time.Time{}))
	_, err := store.PutCircle(t.Context(), social.Circle{ID: "c1", Owner: "u_1"}, []string{"u_2"}, time.Time{})
	require.NoError(t, err)
	require.JSONEq(t, `{"agents":["u_2"],"next_after":null}`, withoutCards(string(f.do(t, "GET", "/v1/circles/c1/members", "", asAgent).Data)), "role and members are read together")
}

// TestPatchCircleEmptyValues checks that an empty text is not taken for a default, which
// would let members post to a group of which only the owner may.
func TestPatchCircleEmptyValues(t *testing.T) {
	t.Parallel()
	f, _ := socialFixture(t, nil)
	require.Zero(t, f.do(t, "PUT", "/v1/circles/g1", `{"name":"News","kind":"group","post":"owner"}`, asAgent).Code)
	before := f.do(t, "GET", "/v1/circles/g1", "", asAgent).Data
	for _, field := range []string{"kind", "post", "history", "members_visible_to", "owner"} {
		answer := f.do(t, "PATCH", "/v1/circles/g1", `{"name":"Other","`+field+`":""}`, asAgent)
		require.Equal(t, 40001, answer.Code, field)
		require.Contains(t, answer.Msg, field+" must not be empty")
		require.JSONEq(t, string(before), string(f.do(t, "GET", "/v1/circles/g1", "", asAgent).Data), field)
	}
	require.Zero(t, f.do(t, "PATCH", "/v1/circles/g1", `{"post":null}`, asAgent).Code, "null is the default")
}
