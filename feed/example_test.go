package feed_test

import (
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
)

// The default decay: 1 for the first hour, 0.5 a day later.
func ExampleDecay() {
	decay := feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}
	curve := decay.Func()
	for _, age := range []time.Duration{time.Hour, 13 * time.Hour, 25 * time.Hour, 49 * time.Hour, 30 * 24 * time.Hour} {
		fmt.Printf("%4.0f h  %.6f\n", age.Hours(), curve.At(age.Seconds()))
	}
	// Output:
	//    1 h  1.000000
	//   13 h  0.840896
	//   25 h  0.500000
	//   49 h  0.062500
	//  720 h  0.000001
}

func ExampleRanking_PopularityFactor() {
	ranking := feed.Ranking{PopularityWeight: 0.5}
	for _, uploaded := range []float64{0, 9, 999} {
		fmt.Printf("%3.0f  %.2f\n", uploaded, ranking.PopularityFactor(0, 0, uploaded))
	}
	// Output:
	//   0  1.00
	//   9  1.50
	// 999  2.50
}

func ExampleParseItem() {
	item, err := feed.ParseItem([]byte(`{"id":"post/7","title":"Slow clocks","update_time":1771932600,"likes":3,"comments":2,"paywall":false}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(item.ID, item.Group(), item.Popularity(), string(item.Business["paywall"]))

	_, err = feed.ParseItem([]byte(`{"id":"post/8","update_time":1771932600}`))
	fmt.Println(err)
	// Output:
	// post/7 post/7 7 false
	// bad item: title is missing
}
