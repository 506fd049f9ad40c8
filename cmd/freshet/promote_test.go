package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
)

func TestPromote(t *testing.T) {
	t.Setenv(configs.EnvAdminToken, adminToken)
	url := startNetwork(t, t.TempDir())
	promote := func(args ...string) result {
		return freshet(t, "", append(append([]string{"promote"}, args...), "--server", url)...)
	}
	got := promote("list")
	require.Equal(t, result{exitOK, "there are no promotions\n", ""}, got)
	got = promote("put", "autumn", "--item", "post:public", "--from", "2026-01-02T03:04:05Z", "--until", "4000000000", "--weight", "2.5", "--tags", "go,db", "--langs", "en")
	require.Equal(t, exitOK, got.code, got.errs)
	assert.Contains(t, got.out, "autumn")
	for _, text := range []string{"2.5", "2026-01-02 03:04", "2096-10-02 07:06", "post:public", "tags go, db; langs en", "runs"} {
		assert.Contains(t, got.out, text)
	}
	assert.Equal(t, got, promote("get", "autumn"))
	got = promote("put", "spring", "--item", "none", "--for", "1h")
	require.Equal(t, exitOK, got.code, got.errs)
	assert.Contains(t, got.out, "everybody")
	assert.Contains(t, got.out, "there is no item with this id")
	got = promote("list", "--limit", "1")
	assert.Contains(t, got.out, "next: --after autumn\n")
	assert.NotContains(t, got.out, "spring")
	assert.Contains(t, promote("list", "--after", "autumn").out, "spring")
	assert.Contains(t, promote("get", "autumn", "--json").out, `"weight": 2.5`)
	assert.Equal(t, result{exitOK, "promotion autumn is deleted\npromotion spring is deleted\n", ""}, promote("delete", "autumn", "spring"))
	assert.Equal(t, exitError, promote("delete", "autumn").code)
	for _, bad := range [][]string{
		{"put", "x", "--for", "1h"},
		{"put", "x", "--item", "i"},
		{"put", "x", "--item", "i", "--for", "1h", "--until", "2030-01-01T00:00:00Z"},
		{"put", "x", "--item", "i", "--for", "-1h"},
		{"put", "x", "--item", "i", "--from", "soon", "--for", "1h"},
		{"put", "x", "--item", "i", "--for", "1h", "--weight", "0"},
		{"put", "--item", "i", "--for", "1h"},
	} {
		got := promote(bad...)
		assert.Equal(t, exitUsage, got.code, "%v: %s", bad, got.errs)
	}
	got = promote("put", "x", "--item", "i", "--for", "1h", "--weight", "1e10")
	assert.Equal(t, exitError, got.code)
	assert.Contains(t, got.errs, "weight must be 1e-09 to 1e+09")
}

func TestPromotionTimes(t *testing.T) {
	now := time.Date(2026, 3, 6, 12, 0, 0, 5e8, time.UTC)
	var change client.PromotionChange
	require.NoError(t, setTimes(&change, "", "", time.Hour, now))
	assert.Equal(t, client.PromotionChange{From: feed.Moment{Time: now.Truncate(time.Second)}, Until: feed.Moment{Time: now.Truncate(time.Second).Add(time.Hour)}}, change)
	require.NoError(t, setTimes(&change, "2026-04-01T00:00:00+02:00", "1777777777", 0, now))
	assert.Equal(t, []int64{1774994400, 1777777777}, []int64{change.From.Unix(), change.Until.Unix()})
}
