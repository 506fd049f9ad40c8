package feed_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed"
)

// TestHomeScore compares with values calculated by hand.
func TestHomeScore(t *testing.T) {
	t.Parallel()
	half := feed.Home{Decay: 0.01, Following: 2, Trending: 3, Promoted: 4, Affinity: 1}
	for name, test := range map[string]struct {
		home      feed.Home
		source    feed.Source
		age       time.Duration
		reactions float64
		affinity  float64
		want      float64
	}{
		"new, nobody likes it":        {feed.DefaultHome, feed.SourceFollowing, 0, 0, 0, 1},
		"nine reactions double it":    {feed.DefaultHome, feed.SourceFollowing, 0, 9, 0, 2},
		"99 triple it":                {feed.DefaultHome, feed.SourceFollowing, 0, 99, 0, 3},
		"50 hours":                    {feed.DefaultHome, feed.SourceFollowing, 50 * time.Hour, 0, 0, 1 / math.E},
		"half an hour":                {feed.DefaultHome, feed.SourceFollowing, 30 * time.Minute, 0, 0, 0.990049833749168},
		"five likes of the author's":  {feed.DefaultHome, feed.SourceFollowing, 0, 0, feed.Affinity(5), 1.25},
		"15 likes":                    {feed.DefaultHome, feed.SourceFollowing, 0, 0, feed.Affinity(15), 1.375},
		"all of it":                   {feed.DefaultHome, feed.SourceFollowing, 50 * time.Hour, 9, feed.Affinity(5), 2.5 / math.E},
		"trending":                    {feed.DefaultHome, feed.SourceTrending, 0, 9, 0, 1.2},
		"promoted":                    {feed.DefaultHome, feed.SourcePromoted, 0, 9, 0, 1.6},
		"other parameters":            {half, feed.SourceTrending, 100 * time.Hour, 9, 0.5, 9 / math.E},
		"dated ahead":                 {feed.DefaultHome, feed.SourceFollowing, -time.Hour, 0, 0, 1},
		"a ranking from before":       {feed.Home{}, feed.SourcePromoted, 0, 0, 0, 0.8},
		"discovery has its own score": {feed.DefaultHome, feed.SourceDiscovery, 0, 9, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.InDelta(t, test.want, test.home.Score(test.source, test.age, test.reactions, test.affinity).Total(), 1e-12)
		})
	}
	assert.InDelta(t, 8, feed.Reactions(2, 3), 0)
	assert.InDelta(t, 2, feed.Reactions(2, -3), 0)
	assert.Zero(t, feed.Affinity(-1))
	assert.InDelta(t, 0.5, feed.Affinity(1+3+5*feed.AffinityClick), 1e-12, "a like, three replies and five clicks")
	const days = 24 * time.Hour
	assert.Equal(t, 30*days, feed.Home{}.AffinityFor())
	assert.Equal(t, 30*days, half.AffinityFor(), "stored before there was the parameter")
	assert.Equal(t, 7*days, feed.Home{AffinityDays: 7}.AffinityFor())
}

// TestNamedPatterns checks the positions of promoted items, counted from 1.
func TestNamedPatterns(t *testing.T) {
	t.Parallel()
	for name, every := range map[string]int{"five_percent": 20, "every_tenth": 10, "CCCTCCCTPC": 10} {
		p, err := feed.ParsePattern(name)
		assert.NoError(t, err)
		for at := range 100 {
			assert.Equal(t, at%every == 8, p.At(at) == feed.SourcePromoted, "%s at %d", name, at+1)
		}
		assert.Equal(t, 70, p.Shares(100)[feed.SourceFollowing], name)
	}
}

// TestPatternShares: by default 70, 25 and 5 of a hundred, with one promoted item in 20.
func TestPatternShares(t *testing.T) {
	t.Parallel()
	p, err := feed.ParsePattern(feed.DefaultPattern)
	assert.NoError(t, err)
	for n := 20; n <= 200; n += 20 {
		shares := p.Shares(n)
		assert.Equal(t, 14*n/20, shares[feed.SourceFollowing])
		assert.Equal(t, 5*n/20, shares[feed.SourceTrending]+shares[feed.SourceDiscovery])
		assert.LessOrEqual(t, max(shares[feed.SourceTrending]-shares[feed.SourceDiscovery], 0), 1)
		assert.Equal(t, n/20, shares[feed.SourcePromoted])
	}
	for at, want := range map[string]string{
		"CCX": "position 3", "PP": "neither C nor T", "": "neither C nor T", "every_ten": "every_tenth", "Five_Percent": "five_percent",
	} {
		_, err := feed.ParsePattern(at)
		assert.ErrorIs(t, err, feed.ErrInvalid)
		assert.ErrorContains(t, err, want)
	}
}
