package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
)

func TestWriteReport(t *testing.T) {
	age, small, large := 7240.0, 0.00004, 0.31
	var b strings.Builder
	require.NoError(t, WriteReport(&b, client.Report{From: "20260228", To: "20260306", Days: 7, Variants: []client.ReportRow{
		{
			Name: "control", Live: true, Share: 0.7, Shown: client.Shown{Impressions: 10_000, Clicks: 500, CTR: 0.05, CTRInterval: client.Interval{Low: 0.04590, High: 0.05445}},
			Likes: 7, Dislikes: 6, Hides: 5, MedianAge: &age, Authors: 40, Agents: 90,
			Explored: &client.Shown{Impressions: 400, Clicks: 8, CTR: 0.02, CTRInterval: client.Interval{Low: 0.01017, High: 0.03893}},
			Sources: []client.ReportSource{
				{Source: "following", Shown: client.Shown{Impressions: 700, Clicks: 70, CTR: 0.1, CTRInterval: client.Interval{Low: 0.0799, High: 0.1245}}},
				{Source: "promoted", Shown: client.Shown{Impressions: 50, CTRInterval: client.Interval{High: 0.0714}}},
			},
		},
		{Name: "idle", Live: true, Share: 0.1, Shown: client.Shown{CTRInterval: client.Interval{High: 1}}, Difference: &client.ReportDifference{Verdict: "too few"}},
		{
			Name: "old", Shown: client.Shown{Impressions: 4000, Clicks: 280, CTR: 0.07, CTRInterval: client.Interval{Low: 0.0625, High: 0.0783}},
			Difference: &client.ReportDifference{CTR: 0.02, Interval: client.Interval{Low: 0.0112, High: 0.0293}, P: &small, Verdict: "significant"},
		},
		{
			Name: "slow", Live: true, Share: 0.2, Shown: client.Shown{Impressions: 2000, Clicks: 90, CTR: 0.045, CTRInterval: client.Interval{Low: 0.0367, High: 0.055}}, MedianAge: &age,
			Difference: &client.ReportDifference{CTR: -0.005, Interval: client.Interval{Low: -0.0144, High: 0.0058}, P: &large, Verdict: "not significant"},
		},
	}, Promotions: []client.ReportPromotion{
		{ID: "autumn", Shown: client.Shown{Impressions: 400, Clicks: 8, CTR: 0.02, CTRInterval: client.Interval{Low: 0.01017, High: 0.03893}}, Likes: 3},
		{ID: "late", Shown: client.Shown{Clicks: 1, CTRInterval: client.Interval{High: 1}}},
	}}))
	require.Equal(t, strings.TrimLeft(`
2026-02-28 to 2026-03-06 (UTC), 7 days

VARIANT    SHARE  SHOWN  CLICKS     CTR     95 % INTERVAL  MEDIAN AGE  AUTHORS  AGENTS  LIKES  DISLIKES  HIDES
control  70.00 %  10000     500  5.00 %  4.59 % to 5.45 %          2h       40      90      7         6      5
idle     10.00 %      0       0       -                 -           -        0       0      0         0      0
old        ended   4000     280  7.00 %  6.25 % to 7.83 %           -        0       0      0         0      0
slow     20.00 %   2000      90  4.50 %  3.67 % to 5.50 %          2h        0       0      0         0      0

control, by exploration: 400 shown, 8 clicked, CTR 2.00 % (95 %: 1.02 % to 3.89 %)
control, by following of home: 700 shown, 70 clicked, CTR 10.00 % (95 %: 7.99 % to 12.45 %)
control, by promoted of home: 50 shown, 0 clicked, CTR 0.00 % (95 %: 0.00 % to 7.14 %)

idle: too few impressions or clicks for a comparison with control; wait, or give it a larger share
old: +2.00 points of CTR compared with control (95 %: +1.12 to +2.93), significant, p < 0.001
slow: -0.50 points of CTR compared with control (95 %: -1.44 to +0.58), not significant, p = 0.310

PROMOTION  SHOWN  CLICKS     CTR     95 % INTERVAL  LIKES
autumn       400       8  2.00 %  1.02 % to 3.89 %      3
late           0       1       -                 -      0
`, "\n"), b.String())
}
