package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
)

func TestModerate(t *testing.T) {
	t.Setenv(configs.EnvAdminToken, adminToken)
	url := startNetwork(t, t.TempDir())
	moderate := func(answers ...string) result {
		return freshet(t, strings.Join(answers, "\n")+"\n", "moderate", "--server", url)
	}
	require.Equal(t, result{exitOK, "0 decided\n", ""}, moderate())
	c, err := client.New(url, client.WithAgent("stranger"))
	require.NoError(t, err)
	defer c.Close()
	report := func(kind, id, details string) {
		t.Helper()
		_, err := c.ReportObject(t.Context(), kind, id, "spam", details)
		require.NoError(t, err)
	}
	report(client.ReportedPost, "post:public", "look:\x1b[2J")
	got := moderate("what", "suspend soon", "suspend 2500000h spam", "hold "+strings.Repeat("x", 501), "skip")
	require.Equal(t, exitOK, got.code, got.errs)
	assert.Contains(t, got.out, "post post:public: reported by 1 (spam 1)")
	assert.Contains(t, got.out, "  stranger: spam: look: [2J\n")
	assert.Contains(t, got.out, "  by author, ")
	assert.Contains(t, got.out, `"what" is none of these`)
	assert.Contains(t, got.out, `"soon" is no duration`)
	assert.Contains(t, got.out, "send a time in the future, at most")
	assert.Contains(t, got.out, "reason")
	assert.Contains(t, got.out, "0 decided\n")
	assert.Contains(t, moderate().out, "0 decided\n", "the input ends")

	got = moderate("suspend 1h too much")
	assert.Contains(t, got.out, "suspend: author author\nhold: post post:public\n1 decided\n")
	_, err = c.Post(t.Context(), "post:public")
	require.ErrorIs(t, err, client.ErrNotFound)
	author, err := client.New(url, client.WithAgent("author"))
	require.NoError(t, err)
	defer author.Close()
	post, err := author.Post(t.Context(), "post:public")
	require.NoError(t, err)
	require.True(t, post.InFeed.Removed[0].Held)
	require.Equal(t, "too much", post.InFeed.Removed[0].Reason)
	assert.Equal(t, result{exitOK, "0 decided\n", ""}, moderate(), "both are decided")
	report(client.ReportedAuthor, "author", "")
	assert.Contains(t, moderate("dismiss", "quit").out, "dismiss: author author\n1 decided\n")
	got = freshet(t, "", "moderate", "--json", "--server", url)
	assert.Contains(t, got.out, `"objects": []`)
}
