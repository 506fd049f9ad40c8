// GET /v1/stream by fetch: EventSource cannot send the headers that say who reads.

const AGAIN = 10_000; // ms until the next try where there was no stream
const REFUSED = 60_000; // ms until it where the server, or what is in front of it, has refused one

// listen calls told with the id and the count of each event `new`, and live with whether
// a stream is open. It begins after the post since, if there is one, and connects again
// where it has been, until signal is aborted.
//
// Of all windows one at a time has the stream of a name, because a browser has six
// connections to a server. Where windows cannot know of each other (plain HTTP from another
// machine), each has its own.
export async function listen({ name, ...options }) {
  if (!navigator.locks) return connect(options);
  return navigator.locks.request(name, { signal: options.signal }, () => connect(options)).catch(() => {}); // aborted
}

async function connect({ headers, signal, since, live, told }) {
  let last = since() ?? '';
  while (!signal.aborted) {
    let pause = AGAIN;
    try {
      const response = await fetch('/v1/stream', { signal, headers: last ? { ...headers(), 'Last-Event-ID': last } : headers() });
      if (response.status >= 400 && response.status < 500 && response.status !== 429) pause = REFUSED;
      if (response.ok && response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
        live(true);
        for await (const block of blocks(response.body)) {
          last = block.id ?? last;
          pause = Number(block.retry ?? pause);
          if (block.event === 'new') told(last, JSON.parse(block.data).count);
        }
      }
    } catch { /* aborted, or the server is away */ }
    if (!signal.aborted) live(false);
    await wait(pause, signal);
  }
}

// wait ends early with the signal: another window waits for the stream.
function wait(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

// blocks yields the fields of each block of a stream.
async function* blocks(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      yield Object.fromEntries(part.split('\n').map((line) => line.split(/: ?(.*)/s, 2)));
    }
  }
}
