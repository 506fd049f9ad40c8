package degraded

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
)

func TestPartsCountedByName(t *testing.T) {
	before := map[string]float64{}
	for i, name := range names {
		before[name] = testutil.ToFloat64(total[i])
	}
	p := Dedup | Session
	p.Count()
	assert.Equal(t, []string{"dedup", "session"}, p.Names())
	assert.Nil(t, Parts(0).Names())
	for i, name := range names {
		want := before[name]
		if name == "dedup" || name == "session" {
			want++
		}
		assert.Equal(t, want, testutil.ToFloat64(total[i]), name)
	}
}
