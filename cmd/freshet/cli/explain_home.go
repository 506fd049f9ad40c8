package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed/api"
)

// homePositions returns a table of the positions of home's page, or of all candidates, with placed
// ones first and in order of position.
func homePositions(x client.Explanation, all bool) *table {
	var placed, rest []api.Explained
	for _, c := range x.Candidates {
		if c.Variety != nil && (all || c.Outcome == "paged") {
			placed = append(placed, c)
		} else if all {
			rest = append(rest, c)
		}
	}
	slices.SortFunc(placed, func(a, b api.Explained) int { return a.Variety.Place - b.Variety.Place })
	t := newTable("nwwwnnnnnnnit", "PLACE", "OUTCOME", "RIGHT", "SOURCE", "AGE", "BASE", "RELEVANCE", "DECAY", "POPULARITY", "AFFINITY", "SCORE", "ID", "TITLE")
	for _, c := range append(placed, rest...) {
		place, right, base, affinity := "", "", "", ""
		if c.Variety != nil {
			place, right = strconv.Itoa(c.Variety.Place), c.Variety.Right
		}
		if c.Affinity != nil {
			base, affinity = number(c.Base), number(c.Affinity.Factor)
		}
		relevance, popularity := factors(&c)
		t.add(place, strings.TrimSpace(string(c.Outcome)+" "+c.Day), right, c.Source, Age(c.Age),
			base, relevance, number(c.Decay), popularity, affinity, number(c.Score), c.ID, c.Title)
	}
	return t
}

func homeScore(b *strings.Builder, it *api.ExplainedItem) {
	fmt.Fprintf(b, "score %s = base %s × decay %s × popularity %s × affinity %s\n",
		number(it.Score), number(it.Base), number(it.Decay), number(it.Popularity.Factor), number(it.Affinity.Factor))
	fmt.Fprintf(b, "  decay       %s old\n", Age(it.Age))
	fmt.Fprintf(b, "  popularity  %s = likes + 2 × comments\n", strconv.FormatFloat(it.Popularity.Value, 'f', -1, 64))
	fmt.Fprintf(b, "  affinity    n = %s, of the reader's likes, replies and clicks\n", number(it.Affinity.N))
}
