// GET /v1/stream by fetch: EventSource cannot send the headers that say who reads.

const AGAIN = 10_000; // ms until the next try where there was no stream

// listen calls told with the id and the count of each event `new`, and live with whether
// a stream is open. It begins after the post since, if there is one, and connects again
// where it has been, until signal is aborted or the server has no streams for this
// reader.
export async function listen({ headers, signal, since, live, told }) {
  let last = since ?? '';
  while (!signal.aborted) {
    let pause = AGAIN;
    try {
      const response = await fetch('/v1/stream', { signal, headers: last ? { ...headers(), 'Last-Event-ID': last } : headers() });
      if (response.status >= 400 && response.status < 500 && response.status !== 429) return;
      if (response.ok) {
        live(true);
        for await (const block of blocks(response.body)) {
          last = block.id ?? last;
          pause = Number(block.retry ?? pause);
          if (block.event === 'new') told(last, JSON.parse(block.data).count);
        }
      }
    } catch { /* aborted, or the server is away */ }
    if (!signal.aborted) live(false);
    await new Promise((r) => { setTimeout(r, pause); });
  }
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
