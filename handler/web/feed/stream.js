// GET /v1/stream with fetch: EventSource cannot send the headers that identify the reader.

const AGAIN = 10_000; // ms until the next try after a failure
const REFUSED = 60_000; // ms until the next try if the server, or a proxy, has refused the stream

const SHORTEST = 1000, LONGEST = 3_600_000; // limits in ms of the pause that a server may request
const SILENCE = 60_000; // ms of silence after which a stream is closed: a server sends something every 15 s

// listen calls told with the id and the count of each event `new`, and live with whether
// a stream is open. It starts after the post since, if any, and reconnects and resumes
// until signal is aborted.
//
// Only one window at a time has the stream of a name, because a browser allows six
// connections to a server. If windows cannot coordinate (plain HTTP from another machine),
// each has its own.
export async function listen({ name, ...options }) {
  if (!navigator.locks) return connect(options);
  return navigator.locks.request(name, { signal: options.signal }, () => connect(options)).catch(() => {}); // aborted
}

async function connect({ headers, signal, since, live, told }) {
  let last = since() ?? '';
  while (!signal.aborted) {
    let pause = AGAIN, silence;
    const ends = new AbortController();
    const heard = () => { clearTimeout(silence); silence = setTimeout(() => ends.abort(), SILENCE); };
    signal.addEventListener('abort', () => ends.abort(), ends);
    heard();
    try {
      const response = await fetch('/v1/stream', { signal: ends.signal, headers: last ? { ...headers(), 'Last-Event-ID': last } : headers() });
      if (response.status >= 400 && response.status < 500 && response.status !== 429) pause = REFUSED;
      if (response.ok && response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
        live(true);
        for await (const block of blocks(response.body, heard)) {
          last = block.id ?? last;
          if (/^\d+$/.test(block.retry)) pause = Math.min(Math.max(block.retry, SHORTEST), LONGEST);
          if (block.event === 'new') told(last, JSON.parse(block.data).count);
        }
      }
    } catch { /* aborted, silent, or the server is unreachable */ }
    clearTimeout(silence);
    ends.abort();
    if (!signal.aborted) live(false);
    await wait(pause, signal);
  }
}

// wait ends early with the signal: another window may be waiting for the stream.
function wait(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

// blocks yields the fields of each block of a stream, and calls heard for all received data.
async function* blocks(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    heard();
    const parts = (rest + value).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      yield Object.fromEntries(part.split('\n').map((line) => line.split(/: ?(.*)/s, 2)));
    }
  }
}
