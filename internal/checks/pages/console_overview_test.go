package pages

import (
	"context"
	"fmt"
	"math"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/overview"
)

// week stores what a server could have counted in the last hour and the last seven days, with more calls
// by day than by night, and three minutes of yesterday's noon (UTC) without Elasticsearch.
func week(t *testing.T, dir string, now time.Time) {
	t.Helper()
	file, err := overview.OpenFile(filepath.Join(dir, overview.FileName))
	require.NoError(t, err)
	samples := map[overview.Slot]overview.Sample{}
	noon := now.UTC().Truncate(24 * time.Hour).Add(-12 * time.Hour)
	for _, span := range []overview.Span{overview.Minute, overview.Hour} {
		last := now.Unix() - now.Unix()%int64(span)
		for i := int64(1); i < span.Kept(); i++ {
			begin := last - i*int64(span)
			day := 1.2 - math.Cos(2*math.Pi*float64(begin%86400)/86400) + .1*math.Sin(float64(begin))
			calls := math.Round(float64(span) * 20 * day)
			took := make([]float64, len(overview.Bounds)+1)
			took[3], took[4], took[5], took[8] = calls*.5, calls*.3, calls*.19, math.Round(calls*.01*day)
			s := overview.Sample{
				Refreshes: calls * .6, LoadMores: calls * .4, Short: math.Round(calls * .004), Shown: 20 * calls, Clicks: math.Round(calls * (.5 + .05*day)), Took: took,
				From: begin, To: begin + int64(span), Looks: float64(span) / 60, Delay: .2 * day * float64(span) / 60, Streams: 300 * day * float64(span) / 60,
				Fill: .35 * float64(begin%86400) / 86400, Server: overview.Server{Name: "host/1abc", Version: "v0.2.0", Started: begin},
			}
			if begin == noon.Unix() {
				s.Degraded = math.Round(calls * .05)
				s.Troubles = map[string]uint64{"part recall": 0b111 << 14, "down elasticsearch": 0b11 << 14}
			}
			samples[overview.Slot{Span: span, Begin: begin}] = s
		}
	}
	require.NoError(t, file.Put(t.Context(), "1abc", samples))
}

// TestConsoleOverviewWeek draws a week, and says what yesterday's degraded minutes were.
func TestConsoleOverviewWeek(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	cfg := predictable()
	cfg.DataDir, cfg.Auth.AdminToken = t.TempDir(), adminToken
	week(t, cfg.DataDir, time.Now())
	a, err := server.Open(t.Context(), cfg)
	require.NoError(t, err)
	srv := httptest.NewServer(a.Handler)
	t.Cleanup(func() {
		srv.Close()
		require.NoError(t, a.Close(context.WithoutCancel(t.Context())))
	})
	fillItems(t, a)
	for _, screen := range widths() {
		tab := chromium.Open(t, screen)
		signIn(tab, srv.URL)
		tab.Go(srv.URL + "/console")
		tab.Until(`document.querySelectorAll('#charts figure').length > 10`)
		// The server may have counted the first minute meanwhile.
		assert.Contains(t, []int{60, 61}, chromium.Eval[int](tab, `Number(document.querySelector('#at').max)+1`))
		tab.Shot("overview-hour")
		tab.Click("[value=hours]")
		tab.Until(`document.querySelector('#figures-table').rows.length >= 169`)
		assert.Regexp(t, `3older candidateselasticsearchWhat to do`, chromium.Eval[string](tab, `document.querySelector('#incidents tbody tr').textContent`))
		assert.NotContains(t, chromium.Eval[string](tab, `document.querySelector('#by-day').textContent`), "Nothing is known")
		assert.Contains(t, chromium.Eval[string](tab, `[...document.querySelectorAll('#charts figure')].find((f) => f.textContent.startsWith('New items')).querySelector('path').getAttribute('d')`), "L", "items of several hours")
		fits(t, tab, screen.Name)
		tab.Shot("overview-week")
	}
}

// TestConsoleOverviewKeyboard reads the points of several hours by the keyboard.
func TestConsoleOverviewKeyboard(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serveStill(t)
	tab := chromium.Open(t, chromium.Desktop)
	signIn(tab, url)
	tab.Go(url + "/console")
	tab.Until(opened)
	chromium.Eval[any](tab, `(async () => {
		const { show } = await import('/assets/console/overview/overview.js');
		const elements = await (await fetch('/assets/console/overview/view.html')).text();
		const point = (i) => ({ begin: new Date(Date.UTC(2026, 2, 6, 12, i)).toISOString(), seconds: 60, servers: 1, refreshes: i, load_mores: 2 * i, p50: i ? .002 : null, p99: i ? .7 : null,
			errors: 0, degraded: i === 1 ? .5 : 0, short: 0, shown: 20 * i, clicks: i, click_rate: .05, filter_fill: .3, queue_delay: 0, streams: 3 });
		const now = new Date(), ago = (days, minutes) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - days, 12, minutes).toISOString();
		const incidents = [{ begin: ago(1, 20), minutes: 3, failed: false, lacked: ['recall'], down: ['elasticsearch'] }, { begin: ago(1, 4), minutes: 2, failed: true, lacked: [], down: [] },
			{ begin: ago(3, 0), minutes: 9, failed: false, lacked: ['dedup'], down: ['redis'] },
			{ begin: new Date(now.getFullYear(), now.getMonth(), now.getDate(), 0, -2).toISOString(), minutes: 3, failed: true, lacked: [], down: [] }];
		const items = { ages: [{ below: 3600, items: 3 }, { below: 86400, items: 40 }, { below: null, items: 1 }], hours: [] };
		const data = { at: now.toISOString(), minutes: [0, 1, 2].map(point), hours: [], incidents, days: [{ day: '2026-03-06', readers: 77 }], items, servers: [{ name: 'one', version: 'v1', started: new Date().toISOString(), counted: new Date().toISOString(), down: ['redis'] }] };
		window.fetch = async () => new Response(JSON.stringify({ code: 0, msg: 'success', data }));
		document.querySelector('#view').replaceChildren(...new DOMParser().parseFromString(elements, 'text/html').body.childNodes);
		await show(new URLSearchParams(), new AbortController().signal);
		document.body.dataset.shown = 'yes';
	})()`)
	tab.Until(`document.body.dataset.shown`)
	figure := func(name string) string {
		return chromium.Eval[string](tab, `[...document.querySelectorAll('#charts figure')].find((f) => f.textContent.startsWith('`+name+`')).querySelector('output').textContent`)
	}
	assert.Equal(t, "2 /s", figure("Refreshes"), "the newest point")
	chromium.Eval[any](tab, `document.querySelector('#at').focus()`)
	tab.Press("\u0302") // left arrow
	tab.Until(`document.querySelector('#at').value === '1'`)
	assert.Equal(t, "1 /s", figure("Refreshes"))
	assert.Equal(t, "50 %", figure("Degraded"))
	assert.True(t, chromium.Eval[bool](tab, `[...document.querySelectorAll('#charts figure')].find((f) => f.textContent.startsWith('Degraded')).classList.contains('bad')`))
	assert.Equal(t, chromium.Eval[string](tab, `document.querySelector('#when').textContent`), chromium.Eval[string](tab, `document.querySelector('#at').getAttribute('aria-valuetext')`))
	tab.Press("\u0302")
	tab.Until(`document.querySelector('#at').value === '0'`)
	assert.Equal(t, "–", figure("Half of the calls"), "there were no calls")
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#servers').textContent`), "does not reach redis")
	assert.Equal(t, "77", figure("Distinct readers"))
	assert.Equal(t, "30 %", figure("Fill of"))
	assert.False(t, chromium.Eval[bool](tab, `[...document.querySelectorAll('#charts figure')].some((f) => f.textContent.startsWith('New items'))`), "they are counted by the hour")
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#by-day').textContent`), "Yesterday 7, today 1 minutes", "one lasts over midnight")
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#by-day').textContent`), "Nothing is known of 24 hours of yesterday", "no figures are no sign that all was well")
	const row = `[...document.querySelectorAll('#incidents tbody tr')][%d].textContent`
	assert.Regexp(t, `3older candidates.*elasticsearch`, chromium.Eval[string](tab, fmt.Sprintf(row, 0)))
	assert.Contains(t, chromium.Eval[string](tab, fmt.Sprintf(row, 1)), "errors")
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#ages').textContent`), "1 h to 1 d40")
	tab.Press("\u0303") // right arrow: p99 is too long there
	tab.Until(`document.querySelector('#at').value === '1'`)
	assert.Equal(t, []string{"freshetslow", "freshetdegraded"}, chromium.Eval[[]string](tab, `[...document.querySelectorAll('#charts a')].filter((a) => a.checkVisibility()).map((a) => a.hash.slice(1))`))
}
