package catalogtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed/api"
)

// onlyNewer uploads items that are older than, as old as and newer than the stored ones, in one
// upload and in several.
func onlyNewer(t *testing.T, c catalog.Catalog) {
	in := catalog.NewIngest(c, catalog.IngestConfig{})
	send := func(newer bool, versions ...string) api.Upload {
		t.Helper()
		var body strings.Builder
		for _, version := range versions {
			id, at, _ := strings.Cut(version, " ")
			fmt.Fprintf(&body, `{"id":"newer-%s","title":"of %s","update_time":%s,"tags":["t%s"]}`+"\n", id, at, at, at)
		}
		read := in.Read
		if newer {
			read = in.ReadNewer
		}
		report, err := read(t.Context(), strings.NewReader(body.String()))
		require.NoError(t, err)
		require.Empty(t, report.Errors)
		return report
	}
	holds := func(id, at string) {
		t.Helper()
		it, err := docs(t, c, "newer-"+id)[0].Item()
		require.NoError(t, err)
		require.Equal(t, "of "+at, it.Title)
		require.Equal(t, []string{"t" + at}, it.Tags)
	}
	require.Equal(t, api.Upload{Accepted: 2, Errors: []api.Rejection{}}, send(true, "a 10", "b 10"))
	require.Equal(t, api.Upload{Accepted: 4, Kept: 2, Errors: []api.Rejection{}}, send(true, "a 9", "b 11", "c 1", "a 10"))
	holds("a", "10")
	holds("b", "11")
	holds("c", "1")
	require.Equal(t, api.Upload{Accepted: 5, Kept: 2, Replaced: 2, Errors: []api.Rejection{}}, send(true, "d 5", "d 7", "d 6", "d 7", "d 8"))
	holds("d", "8")
	require.Equal(t, api.Upload{Accepted: 3, Kept: 3, Errors: []api.Rejection{}}, send(true, "d 6", "d 7", "d 8"))
	holds("d", "8")
	require.Equal(t, api.Upload{Accepted: 3, Replaced: 1, Errors: []api.Rejection{}}, send(false, "d 6", "d 4", "a 3"), "without it the last one holds")
	holds("d", "4")
	holds("a", "3")
	require.Equal(t, api.Upload{Accepted: 1, Errors: []api.Rejection{}}, send(true, "d 5"))
	holds("d", "5")
}
