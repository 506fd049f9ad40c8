package quality

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/signals/events"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	items := file(t, "items", item("late", 20, `,"likes":90,"comments":4`), "", item("early", 10, `,"url":"https://www.example.com/a"`))
	one := file(t, "one", act(11, "u_1", "click", "early"), act(30, "u_1", "bookmark", "late"))
	two := file(t, "two", act(11, "u_2", "dislike", "early"), act(25, "u_2", "like", "late"))
	d, err := Load(items, one, two)
	require.NoError(t, err)
	assert.Equal(t, []string{"early", "late"}, []string{d.items[0].ID, d.items[1].ID}, "by time")
	assert.Zero(t, d.items[1].Popularity(), "likes of the future are not known yet")
	assert.Equal(t, []event{
		{11, "u_1", events.Click, 0}, {11, "u_2", events.Dislike, 0}, {25, "u_2", events.Like, 1}, {30, "u_1", events.Like, 1},
	}, d.events, "merged by time, of equal times in the order of the files")

	var packed bytes.Buffer
	zw := gzip.NewWriter(&packed)
	text, err := os.ReadFile(items)
	require.NoError(t, err)
	_, err = zw.Write(text)
	require.NoError(t, err)
	require.NoError(t, zw.Close())
	path := filepath.Join(t.TempDir(), "items.gz")
	require.NoError(t, os.WriteFile(path, packed.Bytes(), 0o600))
	again, err := Load(path, one, two)
	require.NoError(t, err)
	assert.Equal(t, d, again)
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	good, read := item("a", 10, ""), act(11, "u_1", "click", "a")
	for name, c := range map[string]struct {
		items, events []string
		says          string
	}{
		"no JSON":        {[]string{good, `{"id":`}, []string{read}, "items:2: bad item"},
		"no title":       {[]string{`{"id":"a","update_time":1}`}, []string{read}, "items:1: bad item: title is missing"},
		"an item twice":  {[]string{good, "", good}, []string{read}, "items:3: the item a is also on an earlier line"},
		"no tabs":        {[]string{good}, []string{read, "11 u_1 click a"}, "events:2: an event has 4 fields with tabs between them (time, reader, type, item id), not 1"},
		"a heading":      {[]string{good}, []string{"time\treader\ttype\titem"}, `events:1: the time must be Unix seconds, not "time"`},
		"no time":        {[]string{good}, []string{"0\tu_1\tclick\ta"}, "events:1: the time must be Unix seconds"},
		"bad reader":     {[]string{good}, []string{"11\tu 1\tclick\ta"}, `events:1: reader "u 1": `},
		"bad type":       {[]string{good}, []string{"11\tu_1\tview\ta"}, `events:1: unknown type "view"; the types are click, like,`},
		"unknown item":   {[]string{good}, []string{read, act(12, "u_1", "like", "b")}, `events:2: there is no item "b" in `},
		"out of order":   {[]string{good}, []string{act(12, "u_1", "click", "a"), read}, "events:2: the event is of 11, before the one above it, of 12; sort the file by time"},
		"nothing":        {[]string{good}, nil, "no events in "},
		"not gzip below": {[]string{"\x1f\x8bno"}, []string{read}, "items: "},
	} {
		_, err := Load(file(t, "items", c.items...), file(t, "events", c.events...))
		assert.ErrorContains(t, err, c.says, name)
	}
	_, err := Load("/nowhere/items")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestLoadReaders(t *testing.T) {
	t.Parallel()
	want := map[string]bool{"u_1": true, "u_2": true}
	for _, lines := range [][]string{
		{"u_1", "u_2", "", "u_1"},
		{act(1, "u_2", "click", "a"), act(2, "u_1", "like", "b")}, // its items may be unknown
	} {
		got, err := LoadReaders(file(t, "readers", lines...))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := LoadReaders(file(t, "readers", "u_1", "u 2"))
	assert.ErrorContains(t, err, `readers:2: reader "u 2": `)
	_, err = LoadReaders(file(t, "readers", "1\tu_1"))
	assert.ErrorContains(t, err, "readers:1: an event has 4 fields")
	_, err = LoadReaders(file(t, "readers"))
	assert.ErrorContains(t, err, "contains no readers")
}

// The hashes are the test vectors of FNV's authors: a 0xe40c292c, b 0xe70c2de5, foobar 0xbf9cf968.
func TestHalves(t *testing.T) {
	t.Parallel()
	for reader, odd := range map[string]bool{"a": false, "b": true, "foobar": false} {
		assert.Equal(t, odd, Odd.has(reader), reader)
		assert.Equal(t, !odd, Even.has(reader), reader)
		assert.True(t, All.has(reader))
	}
	for _, name := range []string{"all", "even", "odd"} {
		h, err := ParseHalf(name)
		require.NoError(t, err)
		assert.Equal(t, Half(name), h)
	}
	_, err := ParseHalf("third")
	assert.Error(t, err)
}
