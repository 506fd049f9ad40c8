package cli_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
	"github.com/freshet/freshet/feed"
)

// TestTableFitsTerminal checks texts that are each wider than the terminal.
func TestTableFitsTerminal(t *testing.T) {
	t.Parallel()
	const width = 80
	at, long := time.Unix(now, 0), strings.Repeat("long ", 30)
	items := []feed.Item{{ID: "doc_1", AuthorID: long, Title: long, Tags: []string{long}, Likes: 7}}
	for name, write := range map[string]func(w io.Writer) error{
		"items": func(w io.Writer) error { return cli.WriteItems(w, client.ItemPage{Items: items}, at, width) },
		"guest": func(w io.Writer) error { return cli.WriteGuestPage(w, client.GuestPage{Items: items}, at, width) },
		"jobs": func(w io.Writer) error {
			return cli.WriteJobs(w, client.JobPage{Jobs: []client.Job{{Kind: "deliver", State: "dead", Key: long, Error: long}}}, at, width)
		},
		"promotions": func(w io.Writer) error {
			return cli.WritePromotions(w, client.PromotionPage{Promotions: []client.Promotion{{}}}, width)
		},
		"timeline": func(w io.Writer) error {
			return cli.WriteTimeline(w, client.PostPage{Items: []client.Post{{ID: "post:1", Caption: long}}}, at, width)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			require.NoError(t, write(&out))
			for line := range strings.Lines(out.String()) {
				assert.LessOrEqual(t, uniseg.StringWidth(strings.TrimRight(line, "\n")), width, line)
			}
		})
	}
}
