package feed_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		id                   string
		agent, item, request bool
	}{
		{"u_10086", true, true, true},
		{"Ann.B@example-1.com", true, true, true},
		{"0", true, true, true},
		{"a:b", false, true, false},
		{"a/b", false, true, false},
		{"https://example.org/?p=12", false, true, false},
		{"https://example.org/?post_type=story&p=12#more", false, true, false},
		{"tag:blogger.com,1999:blog-1.post-2", false, true, false},
		{"urn:uuid:1225c695-cfb8-4ebb-aaaa-80da344efa6a", false, true, false},
		{"http://[2001:db8::1]/~ann/a%20b;v=1.0/(x)*!$+'y'", false, true, false},
		{"~post:abc", false, false, false}, // the form of the key of a delivered post
		{"", false, false, false},
		{"a\"b", false, false, false},
		{"a<b>", false, false, false},
		{"a\\b", false, false, false},
		{"a^b", false, false, false},
		{"a`b", false, false, false},
		{"a\tb", false, false, false},
		{"a\x7f", false, false, false},
		{"a b", false, false, false},
		{"a|b", false, false, false},
		{"{a}", false, false, false},
		{"é", false, false, false},
		{"a\n", false, false, false},
		{"a\x00", false, false, false},
		{strings.Repeat("x", 64), true, true, true},
		{strings.Repeat("x", 65), true, true, false},
		{strings.Repeat("x", 128), true, true, false},
		{strings.Repeat("x", 129), false, true, false},
		{strings.Repeat("x", 256), false, true, false},
		{strings.Repeat("x", 257), false, false, false},
	} {
		for _, check := range []struct {
			name string
			fn   func(string) error
			ok   bool
		}{{"agent", feed.CheckAgentID, tc.agent}, {"item", feed.CheckItemID, tc.item}, {"request", feed.CheckRequestID, tc.request}} {
			err := check.fn(tc.id)
			if check.ok {
				require.NoError(t, err, "%s %q", check.name, tc.id)
			} else {
				require.ErrorIs(t, err, feed.ErrBadID, "%s %q", check.name, tc.id)
			}
		}
	}
}

// TestSubjects maps subjects as identity providers make them.
func TestSubjects(t *testing.T) {
	t.Parallel()
	ids := map[string]string{}
	for _, tc := range []struct{ subject, id string }{
		{"u_1", "u_1"},
		{"248289761001", "248289761001"},
		{"ann@example.com", "ann@example.com"},
		{"9b2c1f64-3c1e-4c2e-9e55-1f2a3b4c5d6e", "9b2c1f64-3c1e-4c2e-9e55-1f2a3b4c5d6e"},
		{"001234.0123456789abcdef0123456789abcdef.1234", "001234.0123456789abcdef0123456789abcdef.1234"}, // Apple
		{"sub.", "sub."},
		{"sub.1", "sub.1"},
		{"sub." + strings.Repeat("A", 42), "sub." + strings.Repeat("A", 42)},
		{"sub." + strings.Repeat("A", 44), "sub." + strings.Repeat("A", 44)},
		{"sub." + strings.Repeat("@", 43), "sub." + strings.Repeat("@", 43)},
		{"sub." + strings.Repeat("A", 42) + "B", "sub." + strings.Repeat("A", 42) + "B"}, // of no 32 bytes
		{strings.Repeat("x", 128), strings.Repeat("x", 128)},

		{"auth0|507f1f77bcf86cd799439011", "sub.MWbbK5Zp17vDiVSi23ttOejVD9ltIBoU_eE-6WAbvNY"},
		{"auth0|507f1f77bcf86cd799439012", ""},
		{"auth0_507f1f77bcf86cd799439011", "auth0_507f1f77bcf86cd799439011"},
		{"google-oauth2|103900000000", ""},
		{"f:8d2f0c1e:jane", ""},
		{"did:plc:abcdefghijklmnopqrstuvwx", ""},
		{"did:web:example.com", ""},
		{"name@host+x=", ""},
		{"dlvyg+PkAtlCmoJtTqbT+W8AJ743J2PaovD5oe6mrHs=", ""},
		{"spiffe://example.org/app", ""},
		{"https://example.com/users/1", ""},
		{"https://example.com/users/1/", ""},
		{"system:serviceaccount:default:reader", ""},
		{"repo:octo/site:ref:refs/heads/main", ""},
		{"CN=Jane Doe,OU=People,O=Example", ""},
		{"EXAMPLE\\jane", ""},
		{"jane doe", ""},
		{"Jane Doe", ""},
		{" jane", ""},
		{"jane ", ""},
		{"jane\n", ""},
		{"\x00", ""},
		{"Zoë", ""},
		{"Zoe\u0308", ""}, // the same to look at, another name to the provider
		{"ジェーン", ""},
		{"🙂", ""},
		{strings.Repeat("x", 129), ""},
		{strings.Repeat("x", 130), ""},
		{strings.Repeat("x", 4000), ""},
		{"sub.MWbbK5Zp17vDiVSi23ttOejVD9ltIBoU_eE-6WAbvNY", ""}, // what another subject maps to
		{"sub." + strings.Repeat("A", 43), ""},
	} {
		id, err := feed.AgentOf(tc.subject)
		require.NoError(t, err, tc.subject)
		require.NoError(t, feed.CheckAgentID(id), tc.subject)
		if tc.id != "" {
			require.Equal(t, tc.id, id, "%q", tc.subject)
		} else {
			require.Regexp(t, `^sub\.[\w-]{43}$`, id, "%q", tc.subject)
			require.NotEqual(t, tc.subject, id)
		}
		again, err := feed.AgentOf(tc.subject)
		require.NoError(t, err)
		require.Equal(t, id, again)
		require.Empty(t, ids[id], "%q has the id of another", tc.subject)
		ids[id] = tc.subject
	}
	for _, nobody := range []string{"", "\xff", "a\xc3", "\uFFFD", "a\uFFFDb"} {
		_, err := feed.AgentOf(nobody)
		require.ErrorIs(t, err, feed.ErrBadID, "%q", nobody)
	}
}

// TestRefusedIDQuotedWhole: a message that cuts a character in half is no text.
func TestRefusedIDQuotedWhole(t *testing.T) {
	t.Parallel()
	for id, says := range map[string]string{
		"Zoë":                    `has "ë" at position 3`,
		"日本":                     `has "日" at position 1`,
		"a🙂":                     `has "🙂" at position 2`,
		"e\u0301":                "has \"\u0301\" at position 2",
		"a\xffb":                 "at position 2",
		"a b":                    `has " " at position 2`,
		strings.Repeat("é", 300): "this one has 300",
	} {
		for _, check := range []func(string) error{feed.CheckItemID, feed.CheckAgentID, feed.CheckRequestID} {
			err := check(id)
			require.ErrorContains(t, err, says, "%q", id)
			require.True(t, utf8.ValidString(err.Error()), "%q", id)
			require.NotContains(t, err.Error(), `\x`, "%q", id)
		}
	}
}

func TestRef(t *testing.T) {
	t.Parallel()
	for _, r := range []feed.Ref{{ID: "a", Group: "a"}, {ID: "a:1/2", Group: "g"}} {
		require.Equal(t, r, feed.ParseRef(r.String()))
	}
	require.Equal(t, "a", feed.Ref{ID: "a", Group: "a"}.String())
	require.Equal(t, "g|a", feed.Ref{ID: "a", Group: "g"}.String())
	refs := []feed.Ref{{ID: "a", Group: "g"}, {ID: "b", Group: "b"}}
	require.Equal(t, []string{"g", "a", "b"}, feed.Keys(refs))
	require.Equal(t, []string{"a", "b"}, feed.IDs(refs))
}
