package offline

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestScores(t *testing.T) {
	s := NewScoreboard(1, 10)
	assert.Equal(t, []Standing{{}}, s.Standings())
	for _, rank := range []int{1, 3, 0, 12} {
		s.Add("u_1", []int{rank})
	}
	got := s.Standings()[0].Scores
	assert.InDelta(t, 2.0/4, got.HitRate, 1e-12)
	assert.InDelta(t, 1.5/4, got.NDCG, 1e-12)
	assert.InDelta(t, (1+1.0/3+1.0/12)/4, got.MRR, 1e-12)
}

func TestScoreboard(t *testing.T) {
	s := NewScoreboard(3, 10)
	for i, ranks := range [][]int{{1, 1, 0}, {0, 3, 0}, {4, 2, 5}, {2, 11, 1}, {0, 0, 0}} {
		s.Add(fmt.Sprint("u_", i%4), ranks)
	}
	clicks, agents := s.Counted()
	assert.Equal(t, []int{5, 4}, []int{clicks, agents})
	all := s.Standings()
	assert.Equal(t, []int{0, 0, 2, 1, 1, 2}, []int{all[0].Higher, all[0].Lower, all[1].Higher, all[1].Lower, all[2].Higher, all[2].Lower})
	assert.Equal(t, []float64{0.6, 0.6, 0.4}, []float64{all[0].Scores.HitRate, all[1].Scores.HitRate, all[2].Scores.HitRate})
	for i, x := range all {
		assert.InDelta(t, x.Scores.NDCG-all[0].Scores.NDCG, x.Gain, 1e-12, "%d", i)
		assert.Nil(t, x.Margin, "four agents are too few to tell")
	}
	s.Add("u_5", []int{1, 1, 1})
	assert.NotNil(t, s.Standings()[1].Margin)
}
