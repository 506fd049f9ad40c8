package social_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

func creation(caption string) social.Post {
	return social.Post{ID: "post:1", Author: "a", CreatedAt: 1, Caption: caption, Tags: []string{caption}, Images: []social.Image{{URL: "/media/k", Alt: caption}}, Reply: social.RightPublic}
}

func caption(s string) social.Edit { return social.Edit{Caption: &s} }

// TestRecordAnyOrder checks that every sequence of four events, with and without times, has the
// same result in every order.
func TestRecordAnyOrder(t *testing.T) {
	alts, tags, none := []string{"z"}, []string{"z", "y"}, social.RightNone
	type event func(r *social.Record, at int64)
	events := []event{
		func(r *social.Record, at int64) { r.Create(creation(fmt.Sprint("created ", at)), at) },
		func(r *social.Record, at int64) { r.Edit(caption("edited"), at) },
		func(r *social.Record, at int64) { r.Edit(caption("changed"), at) },
		func(r *social.Record, at int64) { r.Edit(social.Edit{Alts: &alts, Tags: &tags, Reply: &none}, at) },
		func(r *social.Record, at int64) { r.Delete(at) },
	}
	orders := permutations(4)
	for n := range 5 * 5 * 5 * 5 {
		which := []int{n % 5, n / 5 % 5, n / 25 % 5, n / 125}
		for _, times := range [][]int64{{1, 2, 3, 4}, {1, 1, 2, 2}, {1, 2, 2, 3}} {
			var want string
			for i, order := range orders {
				var r social.Record
				for _, j := range append(order, order[0]) {
					events[which[j]](&r, times[j])
				}
				got := fmt.Sprintf("%v %+v", r.Alive(), visible(r))
				if i == 0 {
					want = got
				}
				require.Equal(t, want, got, "events %v at %v in the order %v", which, times, order)
			}
		}
	}
}

// visible returns the comparable part of a record: versions depend on the order of the events.
func visible(r social.Record) social.Post {
	if !r.Alive() {
		return social.Post{}
	}
	p := r.Post
	p.Version = 0
	return p
}

func permutations(n int) (out [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for i := range n {
			q := append(append(append([]int{}, p[:i]...), n-1), p[i:]...)
			out = append(out, q)
		}
	}
	return out
}

func TestRecord(t *testing.T) {
	var r social.Record
	require.True(t, r.Create(creation("x"), 10))
	require.False(t, r.Create(creation("x"), 10), "the event arrived before")
	require.True(t, r.Alive())
	require.Equal(t, int64(1), r.Post.Version)
	require.Zero(t, r.Post.EditedAt)
	require.False(t, r.Edit(social.Edit{}, 11))
	require.True(t, r.Edit(caption("y"), 12_000_000))
	require.Equal(t, int64(12), r.Post.EditedAt)
	require.False(t, r.Edit(caption("z"), 11_000_000), "an older edit")
	require.Equal(t, int64(2), r.Post.Version)
	require.Equal(t, int64(12_000_000), r.Latest())
	require.False(t, r.Delete(0))
	require.True(t, r.Delete(12_000_000), "at equal times removal wins")
	require.False(t, r.Alive())
	require.True(t, r.Post.Deleted)
	require.Empty(t, r.Post.Caption)
	require.Nil(t, r.Post.Tags)
	require.Nil(t, r.Post.Images)
	require.False(t, r.Edit(caption("z"), 12_000_000))
	require.False(t, r.Create(creation("x"), 12_000_000))
	require.True(t, r.Create(creation("x"), 12_000_001), "published again, later")

	media := []social.Image{{URL: "/media/k", Alt: "a"}}
	p := creation("x")
	p.Images = media
	var shared social.Record
	shared.Create(p, 1)
	alts := []string{"b"}
	shared.Edit(social.Edit{Alts: &alts}, 2)
	require.Equal(t, "a", media[0].Alt, "the caller's slice is the caller's")
}
