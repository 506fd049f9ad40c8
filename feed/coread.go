package feed

// CoRead holds the parameters of co-readers: how much the score of an item rises because the people
// who read what the reader has read also read this item. The zero value, also that of a ranking
// stored before CoRead existed, is off.
type CoRead struct {
	Weight float64 // ≥ 0; 0 turns it off
	Scale  float64 // the nearness at which the factor is about 1 + Weight/3; > 0, and 0 means the default
}

const (
	defaultCoReadScale = 0.1
	// mostCoRead bounds [CoRead.Factor].
	mostCoRead = 4
	// byReaders is the sum of the default weights of live popularity, and fewReaders the number of
	// readers up to whom the bound of [CoRead.Factor] is that of so many: ten people who open new
	// accounts must not move an item further for those whom they choose than they do for everybody.
	byReaders  = 1.7
	fewReaders = 10
	fewFactor  = 2.77 // a little less than 1 + byReaders·log10(1 + fewReaders)
)

// On reports whether co-readers change any score.
func (c CoRead) On() bool { return c.Weight > 0 }

// Factor returns, for an item with so many readers,
//
//	min(4, 1 + weight·log10(1 + nearness/scale), 1 + 1.7·log10(1 + max(10, readers)))
func (c CoRead) Factor(nearness float64, readers int) float64 {
	if nearness <= 0 { // as of most candidates; logarithms take longer than all the rest
		return 1
	}
	factor := min(mostCoRead, 1+c.Weight*LogCount(nearness/c.written().Scale))
	if factor <= fewFactor {
		return factor
	}
	return min(factor, 1+byReaders*LogCount(float64(max(fewReaders, readers))))
}

// Damped returns the factor of an item's score for its [CoRead.Factor], the mean of all candidates,
// and the number of its readers:
//
//	(readers·factor + mean) / (readers + 1)
//
// An item that nobody has read gets the mean, so that it does not lose by being new.
func (CoRead) Damped(factor, mean float64, readers int) float64 {
	n := float64(max(0, readers))
	return (n*factor + mean) / (n + 1)
}

// written returns the parameters with defaults applied.
func (c CoRead) written() CoRead {
	if c.Scale == 0 {
		c.Scale = defaultCoReadScale
	}
	return c
}
