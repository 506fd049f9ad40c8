package pages

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
)

// TestFeedPageAnswerLost checks that the next call requests a lost page again, whatever the
// reader does.
func TestFeedPageAnswerLost(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, _ := serve(t)
	url := without(t, a, `window.plain = window.fetch; window.faults = []; window.lost = []; window.had = [];
		window.fetch = async (path, options) => {
			if (path !== '/v1/feed' || options.body.includes('"silent"')) return plain(path, options);
			const fault = faults.shift(), { request_id } = JSON.parse(options.body);
			(fault ? lost : had).push(request_id);
			if (fault === 429) return new Response('{"code":42901,"msg":"Too many requests."}', { status: 429 });
			const answer = await plain(path, options);
			if (fault === 'lost') throw new TypeError('lost');
			return fault === 'half' ? new Response('{"code":0,"da') : answer;
		};`)
	for name, tt := range map[string]struct {
		faults string
		next   []string
	}{
		"scroll":               {`['lost', 'lost']`, []string{"#again"}},
		"refresh":              {`['lost', 'lost']`, []string{"#refresh"}},
		"half an answer":       {`['half', 'half']`, []string{"#again"}},
		"then too many calls":  {`['lost', 'lost', 429, 429]`, []string{"#again", "#again"}},
		"then they are pulled": {`['half', 'lost', 429, 429]`, []string{"#refresh", "#refresh"}},
	} {
		t.Run(name, func(t *testing.T) {
			tab := chromium.Open(t, chromium.Phone)
			readAs(tab, url, "u_4")
			tab.Until(ids + `.length >= 20 && ` + idle)
			chromium.Eval[any](tab, `window.faults = `+tt.faults+`, 0`)
			tab.Until(`scrollTo(0, document.body.scrollHeight), document.querySelector('#again').checkVisibility()`)
			tab.Until(`document.querySelector('#note.error')?.textContent.startsWith('The server cannot be reached.')`)
			for i, next := range tt.next {
				if i > 0 {
					tab.Until(`faults.length === 0 && document.querySelector('#note.error')?.textContent.startsWith('Too many')`)
				}
				tab.Click(next)
			}
			tab.Until(`had.includes(lost[0])`)
		})
	}
}

func TestFeedPageAnswerHangs(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, _ := serve(t)
	tab := chromium.Open(t, chromium.Phone)
	readAs(tab, without(t, a, `const within = AbortSignal.timeout; AbortSignal.timeout = (ms) => within.call(AbortSignal, ms / 100);
		const plain = window.fetch; window.hang = true;
		window.fetch = (path, options) => (path === '/v1/feed' && window.hang
			? new Promise((_, reject) => { options.signal?.addEventListener('abort', () => reject(options.signal.reason)); })
			: plain(path, options));`), "u_4")
	tab.Until(`document.querySelector('#note.error')?.textContent.startsWith('The server cannot be reached.')`)
	chromium.Eval[any](tab, `window.hang = false, 0`)
	tab.Click("#again")
	tab.Until(ids + `.length >= 20`)
}

// TestFeedPageStreamFails checks that a useless stream is not reopened without a pause, and that a
// dead one is reopened.
func TestFeedPageStreamFails(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, _ := serve(t)
	for name, body := range map[string]string{
		"no wait":         `'retry: 0\n\n'`,
		"no number":       `'retry: soon\n\n'`,
		"too long a wait": `'retry: 99999999999\n\n'`, // a timer with that many ms fires at once
		"silent":          `new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode(': here\n\n')); } })`,
	} {
		t.Run(name, func(t *testing.T) {
			tab := chromium.Open(t, chromium.Phone)
			readAs(tab, without(t, a, `const { fetch: plain, setTimeout: after } = window; window.streams = 0; window.waits = [];
				window.fetch = (path, options) => {
					if (path !== '/v1/stream') return plain(path, options);
					streams++;
					return new Promise((resolve, reject) => {
						options.signal.addEventListener('abort', () => reject(options.signal.reason));
						const body = `+body+`;
						const cut = body.pipeThrough ? body.pipeThrough(new TransformStream(), { signal: options.signal }) : body; // as fetch does
						resolve(new Response(cut, { headers: { 'Content-Type': 'text/event-stream' } }));
					});
				};
				window.setTimeout = (then, ms, ...more) => {
					if (new Error().stack.includes('feed/stream.js')) waits.push(ms);
					return after(then, ms / 100, ...more);
				};`), "u_4")
			tab.Until(`streams >= 2 || waits.some((ms) => ms > 1e6)`)
			assert.Empty(t, chromium.Eval[[]float64](tab, `waits.filter((ms) => !(ms >= 1000 && ms <= 3600_000)).map(String).map((ms) => parseFloat(ms) || 0)`))
		})
	}
}

// TestFeedPageStorageOfOtherVersion checks that the page can handle stored data that another
// version has written.
func TestFeedPageStorageOfOtherVersion(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	for name, kept := range map[string]string{"broken": `{`, "null": `null`, "of another form": `{"docs":1}`} {
		t.Run(name, func(t *testing.T) {
			tab := chromium.Open(t, chromium.Phone)
			readAs(tab, url, "u_4")
			tab.Until(ids + `.length >= 20`)
			chromium.Eval[any](tab, `['pagehide', 'visibilitychange'].forEach((event) => addEventListener(event, () => { for (const key of ['places', 'list u_4 for_you']) sessionStorage.setItem(key, '`+kept+`'); })), location.reload(), window.old = true, 0`)
			tab.Until(`!window.old && document.readyState === 'complete'`)
			tab.Until(ids + `.length >= 20`)
		})
	}
}
