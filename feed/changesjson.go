package feed

import (
	"encoding/json"
	"strings"
)

// ChangesJSON writes a list that [Ranking.With] reads as the JSON object that
// changes the same parameters and no others. Errors wrap [ErrBadRanking]; the
// values are not validated.
func ChangesJSON(list string) ([]byte, error) {
	var values Ranking
	var text rankingText
	var decay decayText
	var popularity popularityText
	for change := range strings.SplitSeq(list, ",") {
		if change = strings.TrimSpace(change); change == "" {
			continue
		}
		name, value, _ := strings.Cut(change, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if err := values.set(name, value); err != nil {
			return nil, err
		}
		switch name {
		case "scale":
			decay.Scale, text.Decay = &value, &decay
		case "offset":
			decay.Offset, text.Decay = &value, &decay
		case "decay":
			decay.Decay, text.Decay = &values.Decay.Decay, &decay
		case "floor":
			decay.Floor, text.Decay = &values.Decay.Floor, &decay
		case "weight":
			popularity.Weight, text.Popularity = &values.PopularityWeight, &popularity
		case "weight_2h":
			popularity.Weight2h, text.Popularity = &values.Popularity2h, &popularity
		case "weight_2d":
			popularity.Weight2d, text.Popularity = &values.Popularity2d, &popularity
		case "base":
			text.Base = &values.Base
		case "summary":
			text.Keywords = &keywordsText{Summary: &values.KeywordsSummary}
		}
	}
	return json.Marshal(text)
}
