package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
)

func TestWriteReport(t *testing.T) {
	age, small, large, size := 7240.0, 0.00004, 0.31, 12.34
	report := client.Report{From: "20260228", To: "20260306", Days: 7, Variants: []client.ReportRow{
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
			Version: 4,
			Difference: &client.ReportDifference{
				CTR: -0.005, Interval: client.Interval{Low: -0.0144, High: 0.0058}, P: &large, Verdict: "not significant",
				Readers: client.ReportPair{Variant: 210, Control: 800}, SampleRatio: &client.ReportBalance{OK: true},
				Days: []client.ReportDay{
					{Day: "20260305", Impressions: client.ReportPair{Variant: 900, Control: 4000}, Clicks: client.ReportPair{Variant: 40, Control: 190}, CTR: -0.003, Interval: client.Interval{Low: -0.02, High: 0.014}},
					{Day: "20260306", Impressions: client.ReportPair{Variant: 1100, Control: 6000}, Clicks: client.ReportPair{Variant: 50, Control: 310}, CTR: -0.005, Interval: client.Interval{Low: -0.0144, High: 0.0058}},
				},
				Size: &client.ReportSize{Relative: 0.125, Impressions: 90_000, Days: &size},
			},
			Earlier: []client.ReportRun{{Version: 2, Shown: client.Shown{Impressions: 400, Clicks: 8, CTR: 0.02, CTRInterval: client.Interval{Low: 0.01017, High: 0.03893}}}},
		},
		{
			Name: "uneven", Live: true, Version: 4, Difference: &client.ReportDifference{
				P: &large, Verdict: "unbalanced", SampleRatio: &client.ReportBalance{Expected: 0.5, Observed: 0.41, P: 3e-9}, Size: &client.ReportSize{Relative: 0.1},
			},
		},
	}, Promotions: []client.ReportPromotion{
		{ID: "autumn", Shown: client.Shown{Impressions: 400, Clicks: 8, CTR: 0.02, CTRInterval: client.Interval{Low: 0.01017, High: 0.03893}}, Likes: 3},
		{ID: "late", Shown: client.Shown{Clicks: 1, CTRInterval: client.Interval{High: 1}}},
	}, Size: &client.ReportSize{Relative: 0.1, Impressions: 5, Days: &size}}
	var b strings.Builder
	require.NoError(t, WriteReport(&b, report))
	require.NoError(t, WriteDays(&b, report))
	require.Equal(t, strings.TrimLeft(`
2026-02-28 to 2026-03-06 (UTC), 7 days

VARIANT    SHARE  SHOWN  CLICKS     CTR     95 % INTERVAL  MEDIAN AGE  AUTHORS  AGENTS  LIKES  DISLIKES  HIDES
control  70.00 %  10000     500  5.00 %  4.59 % to 5.45 %          2h       40      90      7         6      5
idle     10.00 %      0       0       -                 -           -        0       0      0         0      0
old        ended   4000     280  7.00 %  6.25 % to 7.83 %           -        0       0      0         0      0
slow     20.00 %   2000      90  4.50 %  3.67 % to 5.50 %          2h        0       0      0         0      0
uneven    0.00 %      0       0       -                 -           -        0       0      0         0      0

control, by exploration: 400 shown, 8 clicked, CTR 2.00 % (95 %: 1.02 % to 3.89 %)
control, by following of home: 700 shown, 70 clicked, CTR 10.00 % (95 %: 7.99 % to 12.45 %)
control, by promoted of home: 50 shown, 0 clicked, CTR 0.00 % (95 %: 0.00 % to 7.14 %)

idle: too few readers or clicks for a comparison with control; wait, or give it a larger share
old: +2.00 points of CTR compared with control (95 %: +1.12 to +2.93), significant, p < 0.001
slow: -0.50 points of CTR compared with control (95 %: -1.44 to +0.58), not significant, p = 0.310
  since version 4, days: 2, readers: 210, control's: 800
  a difference of 12.5 % of the rate needs about 90000 impressions an arm, 12.3 days in all
uneven: +0.00 points of CTR compared with control (95 %: +0.00 to +0.00), unbalanced, p = 0.310
  ERROR: 41.00 % of these readers are in it, by its share 50.00 % would be (p = 3e-09): some are lost or counted twice, and no figure of it can be believed
  a difference of 10 % of the rate cannot be found with these readers in 90 days: give it a larger share
slow, from version 2 on: 400 shown, 8 clicked, CTR 2.00 % (95 %: 1.02 % to 3.89 %)

an experiment on half of the readers: a difference of 10 % of the rate needs about 5 impressions an arm, 12.3 days in all

PROMOTION  SHOWN  CLICKS     CTR     95 % INTERVAL  LIKES
autumn       400       8  2.00 %  1.02 % to 3.89 %      3
late           0       1       -                 -      0

slow since version 4; the difference is that of all days so far
DAY         SHOWN  CLICKS  CONTROL SHOWN  CONTROL CLICKS  DIFFERENCE   95 % INTERVAL
2026-03-05    900      40           4000             190       -0.30  -2.00 to +1.40
2026-03-06   1100      50           6000             310       -0.50  -1.44 to +0.58
`, "\n"), b.String())
}
