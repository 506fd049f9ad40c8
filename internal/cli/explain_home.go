package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed/api"
)

// homePositions are rows for the positions of home's page, or of all candidates, those
// that are placed first and in their order.
func homePositions(x client.Explanation, all bool) [][]string {
	var placed, rest []api.Explained
	for _, c := range x.Candidates {
		if c.Variety != nil && (all || c.Outcome == "paged") {
			placed = append(placed, c)
		} else if all {
			rest = append(rest, c)
		}
	}
	slices.SortFunc(placed, func(a, b api.Explained) int { return a.Variety.Place - b.Variety.Place })
	rows := [][]string{{"PLACE", "OUTCOME", "RIGHT", "SOURCE", "AGE", "BASE", "RELEVANCE", "DECAY", "POPULARITY", "AFFINITY", "SCORE", "ID", "TITLE"}}
	for _, c := range append(placed, rest...) {
		rows = append(rows, homeRow(&c))
	}
	return rows
}

func homeRow(c *api.Explained) []string {
	place, right, base, affinity := "", "", "", ""
	if c.Variety != nil {
		place, right = strconv.Itoa(c.Variety.Place), printable(c.Variety.Right)
	}
	if c.Affinity != nil {
		base, affinity = number(c.Base), number(c.Affinity.Factor)
	}
	row, outcome := explainedRow(c), strings.TrimSpace(string(c.Outcome)+" "+c.Day)
	return slices.Concat([]string{place, outcome, right, printable(c.Source)}, row[2:3], []string{base}, row[3:6], []string{affinity}, row[6:])
}

func homeScore(b *strings.Builder, it *api.ExplainedItem) {
	fmt.Fprintf(b, "score %s = base %s × decay %s × popularity %s × affinity %s\n",
		number(it.Score), number(it.Base), number(it.Decay), number(it.Popularity.Factor), number(it.Affinity.Factor))
	fmt.Fprintf(b, "  decay       %s old\n", Age(it.Age))
	fmt.Fprintf(b, "  popularity  %s = likes + 2 × comments\n", strconv.FormatFloat(it.Popularity.Value, 'f', -1, 64))
	fmt.Fprintf(b, "  affinity    n = %s, of the reader's likes, replies and clicks\n", number(it.Affinity.N))
}
