package popularity

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
)

// FormatSums formats the sums of the half-lives of a set, for stores: those above 0 as "1h:latest act:sum",
// separated by spaces; "" if there are none.
func FormatSums(keep feed.HalfLives, c feed.Counts) string {
	sums := keep.MoreSums(c)
	var b strings.Builder
	for h := range keep.All() {
		s := sums[h.Index]
		if s.Value <= 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s:%d:%s", h.Name, s.Last, strconv.FormatFloat(s.Value, 'g', -1, 64))
	}
	return b.String()
}

// ParseSums parses what [FormatSums] has written, the sums of the half-lives of a set. It ignores others,
// and what is malformed.
func ParseSums(keep feed.HalfLives, text string) *feed.MoreSums {
	if keep == 0 || text == "" {
		return nil
	}
	var sums feed.MoreSums
	for part := range strings.SplitSeq(text, " ") {
		name, rest, _ := strings.Cut(part, ":")
		last, value, _ := strings.Cut(rest, ":")
		at, err := strconv.ParseInt(last, 10, 64)
		sum, bad := strconv.ParseFloat(value, 64)
		for h := range keep.All() {
			if h.Name == name && err == nil && bad == nil {
				sums[h.Index] = feed.MoreSum{Last: at, Value: sum}
			}
		}
	}
	return &sums
}
