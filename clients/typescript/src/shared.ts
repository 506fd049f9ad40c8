import type { Client } from './client.js';
import type { News } from './stream.js';

/** A listener of a stream, which may be shared. Its functions do not throw. */
export interface Listener {
  /** The stream reported news. */
  news(news: News): void;
  /** The stream was interrupted and reconnects. */
  broken(): void;
  /** The stream has ended for good. */
  ended(error: unknown): void;
}

/** An open stream. */
interface Running {
  last: string; // its position
  live: boolean;
  readonly listeners: Set<Listener>;
  readonly stop: AbortController;
}

const streams = new WeakMap<Client, Set<Running>>();

/**
 * Listens for news after last, "" for from now on. Listeners at the same position share one
 * stream of the client, because a browser allows six connections to a server. Returns a
 * function that stops it.
 */
export function listen(client: Client, last: string, listener: Listener): () => void {
  const all = streams.get(client) ?? new Set();
  streams.set(client, all);
  let running = [...all].find((one) => last === '' || one.last === last);
  if (running?.live) listener.news({ id: running.last, count: 0 });
  running ??= begin(client, last, all);
  const { listeners, stop } = running;
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) stop.abort();
  };
}

function begin(client: Client, last: string, all: Set<Running>): Running {
  const running: Running = { last, live: false, listeners: new Set(), stop: new AbortController() };
  all.add(running);
  const { signal } = running.stop;
  signal.addEventListener('abort', () => all.delete(running));
  run(client, running).catch((error: unknown) => {
    all.delete(running);
    for (const one of [...running.listeners]) one.ended(error);
  });
  return running;
}

async function run(client: Client, running: Running): Promise<never> {
  const { last, listeners, stop: { signal } } = running;
  const onRetry = () => {
    running.live = false;
    for (const one of [...listeners]) one.broken();
  };
  for await (const news of client.stream({ signal, onRetry, notifications: true, ...(last && { last }) })) {
    running.last = news.id;
    running.live = true;
    for (const one of [...listeners]) one.news(news);
  }
  throw new Error('the stream ended without an error');
}
