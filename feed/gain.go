package feed

// Gain is the contribution of one interest or keyword of a profile to an item's relevance:
// the weight of a tag; the weight of a keyword that stands in the title, or the
// ranking's share of it where the keyword stands in the summary alone.
type Gain struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
	In    string  `json:"in,omitempty"` // of a keyword: title or summary
}

// LearnedGain is the effect of a learned feature on an item's relevance: it adds Score,
// or multiplies by Factor. The counts are those of the reader's acts on items that
// have it.
type LearnedGain struct {
	Feature
	Score    float64 `json:"score,omitempty"`
	Factor   float64 `json:"factor,omitempty"`
	Clicks   int     `json:"clicks,omitempty"`
	Likes    int     `json:"likes,omitempty"`
	Dislikes int     `json:"dislikes,omitempty"`
	Hides    int     `json:"hides,omitempty"`
}
