package pages

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
)

const (
	compared = `!document.querySelector('main').classList.contains('stale') && document.querySelectorAll('#proposed li').length > 0`
	curve    = `document.querySelector('#curve .proposed').getAttribute('d')`
	// cutLabels are texts that extend beyond the drawing, which clips them.
	cutLabels  = `((svg) => { const box = svg.getBoundingClientRect(); return [...svg.querySelectorAll('text')].filter((t) => { const r = t.getBoundingClientRect(); return r.left < box.left || r.right > box.right || r.bottom > box.bottom; }).map((t) => t.textContent); })(document.querySelector('#curve'))`
	confirming = `document.querySelector('#confirm').open`
	changes    = `document.querySelector('#confirm-changes').textContent`
	list       = `[...document.querySelectorAll('#proposed li')].map((l) => l.dataset.id).join(' ')`
)

// slide moves a slider like a user: the page gets the event.
func slide(tab *chromium.Tab, key string, to int) {
	chromium.Eval[any](tab, `((r) => { r.value = `+strconv.Itoa(to)+`; r.dispatchEvent(new Event('input')); })(document.querySelector('#range-`+key+`'))`)
}

// openSliders opens the drawer that has the sliders on a phone.
func openSliders(tab *chromium.Tab) {
	if chromium.Eval[bool](tab, `document.querySelector('#to-sliders').checkVisibility() && !document.querySelector('#tune').checkVisibility()`) {
		tab.Click("#to-sliders")
		tab.Until(`document.querySelector('#tune').checkVisibility()`)
	}
}

// confirm presses a button and confirms its dialog.
func confirm(tab *chromium.Tab, button string) {
	tab.Click(button)
	tab.Until(confirming)
	tab.Click("#confirm .main")
	tab.Until(`!` + confirming)
}

// rankingLoaded waits until the page reports that a change is done. Before that, the answers with the
// report and the versions move the form and its buttons as they arrive.
func rankingLoaded(tab *chromium.Tab, says string) {
	tab.Until(`document.querySelector('#note').textContent.startsWith('` + says + `')`)
	tab.Until(compared)
}

// why fills in the reason, which is required each time.
func why(tab *chromium.Tab) {
	chromium.Eval[any](tab, `document.querySelector('#why-form').elements.why.value = 'a test'`)
}

func TestRankingSliders(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	for _, screen := range chromium.Screens() {
		t.Run(screen.Name, func(t *testing.T) {
			tab := chromium.Open(t, screen)
			tab.Go(url + "/console#/ranking")
			tab.Until(compared)
			assert.Equal(t, "24h", chromium.Eval[string](tab, `document.querySelector('#text-scale').value`))
			assert.Equal(t, "100 %", chromium.Eval[string](tab, `document.querySelector('#figures dd').textContent`), "nothing is proposed yet")
			assert.True(t, chromium.Eval[bool](tab, `document.querySelector('#live').disabled`))
			for _, key := range []string{"scale", "offset", "decay", "weight"} {
				drawn, listed := chromium.Eval[string](tab, curve), chromium.Eval[string](tab, list)
				slide(tab, key, 900)
				if key != "weight" { // popularity is not part of the curve
					require.NotEqual(t, drawn, chromium.Eval[string](tab, curve), "the curve follows at once")
				}
				if key == "scale" || key == "weight" { // with a long scale, offset and decay have little effect
					tab.Until(compared + ` && ` + list + ` !== '` + listed + `'`)
				} else {
					tab.Until(compared)
				}
			}
			assert.NotEmpty(t, chromium.Eval[string](tab, `document.querySelector('#proposed .move.up, #proposed .move.new').textContent`))
			assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#proposed .factors').textContent`), "decay")
			for key, to := range map[string]int{"scale": 680, "offset": 500, "decay": 500, "weight": 100} {
				slide(tab, key, to)
			}
			tab.Until(compared)
			tab.Shot("ranking")
			assert.LessOrEqual(t, chromium.Eval[float64](tab, `document.documentElement.scrollWidth`), float64(screen.Width), "nothing is cut off at the side")
			assert.Empty(t, chromium.Eval[[]string](tab, cutLabels), "labels of the curve that stick out of it")
		})
	}
}

// TestRankingCurves draws several curves and their sum, and then a single Gaussian.
func TestRankingCurves(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	const parts = `document.querySelectorAll('#curve .part').length`
	for _, screen := range chromium.Screens() {
		t.Run(screen.Name, func(t *testing.T) {
			tab := chromium.Open(t, screen)
			tab.Go(url + "/console#/ranking")
			tab.Until(compared)
			assert.Equal(t, 2, chromium.Eval[int](tab, parts))
			openSliders(tab)
			tab.Click("[data-preset=single]")
			tab.Until(parts + ` === 0`)
			tab.Click("[data-preset=two]")
			tab.Until(parts + ` === 2`)
			tab.Click("#add-curve")
			tab.Until(parts + ` === 3`)
			tab.Until(compared)
			assert.Empty(t, chromium.Eval[[]string](tab, cutLabels))
			assert.LessOrEqual(t, chromium.Eval[float64](tab, `document.documentElement.scrollWidth`), float64(screen.Width), "nothing is cut off at the side")
			tab.Click("#add-curve")
			tab.Until(parts + ` === 4 && document.querySelector('#add-curve').disabled`)
			tab.Click("#curve-rows .row:last-child button")
			tab.Until(parts + ` === 3`)
			tab.Until(compared)
			tab.Shot("ranking-curves")
			slide(tab, "scale", 600)
			tab.Until(parts + ` === 0 && document.querySelector('#note').textContent.includes('replaces the curves')`)
			tab.Until(compared)
			tab.Click("#reset")
			tab.Until(`document.querySelector('#live').disabled`)
		})
	}
}

func TestRankingKeyboardAndText(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Desktop)
	tab.Go(url + "/console#/ranking")
	tab.Until(compared)
	before := chromium.Eval[string](tab, `document.querySelector('#text-scale').value`)
	chromium.Eval[any](tab, `document.querySelector('#range-scale').focus()`)
	tab.Press("\u0303") // right arrow
	tab.Until(`document.querySelector('#text-scale').value !== '` + before + `'`)

	write := func(text string) {
		chromium.Eval[any](tab, `((i) => { i.value = '`+text+`'; i.dispatchEvent(new Event('input')); })(document.querySelector('#text-scale'))`)
	}
	write("soon")
	assert.Equal(t, "true", chromium.Eval[string](tab, `document.querySelector('#text-scale').getAttribute('aria-invalid')`))
	write("82h")
	tab.Until(compared)
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#halves').textContent`), "3.5 d")
}

func TestRankingLiveAndRevert(t *testing.T) {
	t.Parallel()
	a, url := serveStill(t)
	tab := chromium.Open(t, chromium.Desktop)
	tab.Go(url + "/docs")
	chromium.Eval[any](tab, `sessionStorage.setItem('admin', '`+adminToken+`')`)
	tab.Go(url + "/console#/ranking")
	tab.Until(compared)
	slide(tab, "scale", 950)
	slide(tab, "weight", 500)
	tab.Until(compared)
	proposed := chromium.Eval[string](tab, list)
	tab.Click("#live")
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#act-note').textContent`), "Enter your name", "nothing is asked before there is one")
	assert.False(t, chromium.Eval[bool](tab, confirming))
	assert.Equal(t, "by", chromium.Eval[string](tab, `document.activeElement.name`))
	tab.Press("ana")
	tab.Click("#live")
	assert.Equal(t, "Enter a reason: it is stored with the version.", chromium.Eval[string](tab, `document.querySelector('#act-note').textContent`))
	tab.Press("older items are still good")
	tab.Click("#live")
	tab.Until(confirming)
	assert.Regexp(t, `decay0\.56 × gauss 12m.*→ scale `, chromium.Eval[string](tab, changes))
	assert.Regexp(t, `popularity.weight0→ 1.5`, chromium.Eval[string](tab, changes))
	tab.Shot("ranking-confirm")
	tab.Click("#confirm button:first-child")
	tab.Until(`!` + confirming)
	assert.Equal(t, "from the configuration", chromium.Eval[string](tab, `document.querySelector('#version').textContent`), "who cancels changes nothing")
	confirm(tab, "#live")
	tab.Until(`document.querySelector('#version').textContent.includes('version 1, by ana')`)
	rankingLoaded(tab, "Live.")

	// The reader's next refresh equals the list in the view.
	require.Len(t, strings.Fields(proposed), 20)
	assert.Equal(t, proposed, firstPage(t, a, "u_1", 20))

	slide(tab, "scale", 100)
	tab.Until(compared) // the results of the comparison move the form
	tab.Click("#variant")
	tab.Press("quick")
	why(tab)
	confirm(tab, "#save")
	rankingLoaded(tab, "Saved:")
	tab.Shot("ranking-live")

	// The experiments view has it, and goes back to the version before.
	tab.Click(`#views [href="#/experiments"]`)
	tab.Until(`document.querySelector('#report')?.textContent.includes('quick') && document.activeElement.id === 'view-title'`)
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#experiment-quick').textContent`), "decay.scale ")
	assert.Equal(t, "ana", chromium.Eval[string](tab, `document.querySelector('#why-form').elements.by.value`), "the name is kept")
	tab.Shot("experiments")
	tab.Click("#experiment-quick button")
	tab.Until(compared)
	assert.True(t, chromium.Eval[bool](tab, `!document.querySelector('#live').disabled`), "it is proposed")
	tab.Click(`#views [href="#/experiments"]`)
	tab.Until(`document.querySelector('#versions')?.rows.length > 2`)
	why(tab)
	confirm(tab, "#versions tbody tr:nth-child(2) button:last-child")
	tab.Until(`document.querySelector('#version').textContent.startsWith('Version 3')`)
	tab.Until(`!document.querySelector('#report').textContent.includes('quick')`)
}

// TestRankingSliderForEachParameter checks that the page knows the server's parameters with their
// bounds. It also includes one that neither knows, and one that only the server knows.
func TestRankingSliderForEachParameter(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Desktop)
	tab.Go(url + "/console#/ranking")
	tab.Until(compared)
	assert.Equal(t, len(feed.Parameters), chromium.Eval[int](tab, `[...document.querySelectorAll('.slider:has(label[for]) input[type=text]')].filter((i) => i.value).length`))
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#slider-home-decay').closest('details').querySelector('summary').textContent`), "Home: ")
	chromium.Eval[any](tab, `document.querySelector('#home-of').open = true`)
	tab.Until(`document.querySelectorAll('#home li .move').length > 0`)
	chromium.Eval[any](tab, `(async () => {
		const { KNOWN, parametersOf, fromAPI, toAPI } = await import('/assets/console/ranking/parameters.js');
		const r = { decay: { scale: '24h', offset: '1h', decay: 0.5, floor: 0 }, popularity: { weight: 0 }, base: 0.1, novelty: { strength: 0.5, half_life: '720h' }, explore: { share: 0.05 }, home: { decay: 0.02 } };
		document.body.dataset.known = JSON.stringify(parametersOf(r).filter(({ path }) => path in KNOWN));
		delete KNOWN['home.decay'];
		const p = parametersOf(r), v = fromAPI(r), key = (path) => p.find((x) => x.path === path);
		v['novelty-strength'] = 2;
		const back = toAPI(p, v);
		document.body.dataset.probe = [back.novelty.strength, back.novelty.half_life, back.explore.share, key('novelty.half_life').group, key('explore.share').ok(1.1), key('explore.share').toValue(1000), key('home.decay').ok(10), key('home.decay').ok(0), v['diversity-site-decay'], v['learned-half_life']].join(' ');
	})()`)
	tab.Until(`document.body.dataset.probe`)
	assert.Equal(t, "2 720h 0.05 Novelty false 1 true false 1 2592000", chromium.Eval[string](tab, `document.body.dataset.probe`))
	var known []feed.Parameter
	require.NoError(t, json.Unmarshal([]byte(chromium.Eval[string](tab, `document.body.dataset.known`)), &known))
	assert.Len(t, known, len(feed.Parameters), "each has a label in KNOWN")
	for i := range known {
		p, ok := feed.ParameterOf(known[i].Path)
		require.True(t, ok, known[i].Path)
		assert.Equal(t, feed.Parameter{Path: p.Path, Help: p.Help, Least: p.Least, Most: min(p.Most, math.MaxFloat64), NotLeast: p.NotLeast, NotMost: p.NotMost}, known[i])
	}
}

// TestRankingManyReaders draws a sample of readers, and shows one of them.
func TestRankingManyReaders(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	for _, screen := range []chromium.Screen{chromium.Phone, {Name: "narrow", Width: 360, Height: 740}, chromium.Desktop} {
		t.Run(screen.Name, func(t *testing.T) {
			tab := chromium.Open(t, screen)
			tab.Go(url + "/console#/ranking")
			tab.Until(compared)
			first := chromium.Eval[bool](tab, `!!(document.querySelector('#compare').compareDocumentPosition(document.querySelector('#tune')) & Node.DOCUMENT_POSITION_FOLLOWING)`)
			assert.Equal(t, screen.Width < 700, first, "on a phone the lists are before the sliders")
			tab.Click("#draw")
			tab.Until(compared + ` && document.querySelectorAll('#readers tbody tr').length >= 8`)
			assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#figures').textContent`), "SD")
			before := chromium.Eval[string](tab, list)
			// The rows depend on the readers the demo has learned about so far.
			const other = `#readers tbody button[aria-pressed=false]`
			reader := chromium.Eval[string](tab, `document.querySelector('`+other+`').textContent`)
			tab.Click(other)
			tab.Until(compared + ` && ` + list + ` !== '` + before + `'`)
			assert.Equal(t, "Current list for "+reader+" Proposed list for "+reader, chromium.Eval[string](tab, `[...document.querySelectorAll('#lists h3')].map((h) => h.textContent).join(' ')`))
			assert.Equal(t, "none", chromium.Eval[string](tab, `[...document.querySelectorAll('#readers tbody tr')].find((r) => r.textContent.startsWith('u_8')).lastChild.textContent`), "a reader without interests")
			assert.Regexp(t, `, unchanged$`, chromium.Eval[string](tab, `document.querySelector('#readers tbody tr td:nth-child(5)').textContent`), "nothing is proposed")
			assert.LessOrEqual(t, chromium.Eval[float64](tab, `document.documentElement.scrollWidth`), float64(screen.Width), "nothing is cut off at the side")
			tab.Shot("ranking-readers")
		})
	}
}

// TestRankingOutdatedAnswers chooses several readers in turn while the server is slow, and
// another one after a failure.
func TestRankingOutdatedAnswers(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Desktop)
	tab.Go(url + "/console#/ranking")
	tab.Until(compared)
	chromium.Eval[any](tab, `((i) => { i.value = 'u_1 u_2 u_3'; i.dispatchEvent(new Event('input', { bubbles: true })); })(document.querySelector('#whose').elements.agent)`)
	tab.Until(compared + ` && document.querySelectorAll('#readers tbody tr').length === 3`)
	before := chromium.Eval[string](tab, list)
	const choose = `document.querySelector('#readers tbody tr:nth-child(%d) button').click()`
	chromium.Eval[any](tab, `window.waiting = 0; window.plain = window.fetch; window.fetch = (path, o) => (path !== '/v1/compare' ? plain(path, o) : new Promise((_, give) => {
		window.waiting++;
		o.signal?.addEventListener('abort', () => { window.waiting--; give(o.signal.reason); });
	}))`)
	for _, row := range []int{2, 3, 2} {
		chromium.Eval[any](tab, fmt.Sprintf(choose, row))
		assert.False(t, chromium.Eval[bool](tab, compared), "the lists are of another reader")
	}
	assert.Equal(t, 2, chromium.Eval[int](tab, `window.waiting`), "figures and lists of the last")
	assert.Empty(t, chromium.Eval[string](tab, `document.querySelector('#note').textContent`))

	chromium.Eval[any](tab, `window.fetch = async () => new Response('{"code":50301,"msg":"too busy","data":null}', { status: 503 })`)
	chromium.Eval[any](tab, fmt.Sprintf(choose, 3))
	tab.Until(`document.querySelector('#note').textContent === 'too busy'`)
	assert.False(t, chromium.Eval[bool](tab, compared), "nor is what could not be had")
	chromium.Eval[any](tab, `window.fetch = window.plain`)
	tab.Click("#readers tbody tr:nth-child(2) button")
	tab.Until(compared + ` && ` + list + ` !== '` + before + `'`)
	assert.Empty(t, chromium.Eval[string](tab, `document.querySelector('#note').textContent`))
}
