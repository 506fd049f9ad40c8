import { FreshetError } from './errors.js';
import type { Sent, Transport } from './transport.js';
import { isRefusedToken, mayHelp, open, reach, unreachable } from './transport.js';
import { Deadline, backoff, sleep, throwIfAborted, unlessAborted } from './wait.js';

/** An event of a stream. */
export interface News {
  /** The position of the stream: pass it to a later stream as `last`. */
  id: string;
  /**
   * The number of new posts in the timeline since the previous event, 99 for that many or more.
   * 0 means that the stream has started, or has reconnected.
   */
  count: number;
  /**
   * Set if the event is about notifications alone, with the option `notifications`: the number of
   * unread ones, 99 for that many or more. There is a new one, or the agent has seen some on a device.
   */
  unread?: number;
}

/** Options of a stream. */
export interface StreamOptions {
  /** The `id` of the latest event that the caller knows; omitted for from now on. */
  last?: string | undefined;
  /** Also yields events about notifications, whose `count` is 0. */
  notifications?: boolean | undefined;
  /** Aborts the stream, which then throws the reason of the signal. */
  signal?: AbortSignal | undefined;
  /**
   * Called when there is no stream for the moment, with the reason and the wait until the next
   * try in milliseconds.
   */
  onRetry?: ((cause: FreshetError, wait: number) => void) | undefined;
}

/** The maximum size of an incomplete block, in characters. */
const longestBlock = 64 * 1024;

/** The longest wait before a retry, in milliseconds, even if the server requests more. */
const longestWait = 60 * 60_000;

/**
 * Yields the events of GET /v1/stream. It reconnects and resumes when the stream ends, when
 * nothing arrives for `silence` milliseconds (a server sends something every 15 s), and while
 * the server is unreachable or busy. A token function that fails once the stream has started counts
 * as an unreachable server: a device without a network reaches neither.
 */
export async function* stream(
  transport: Transport, { last = '', notifications = false, signal, onRetry }: StreamOptions = {}, silence = 60_000,
): AsyncGenerator<News, never> {
  const at = { last, pause: 1000, silence };
  const sent: Sent = {};
  let renewed = typeof transport.options.token !== 'function';
  let started = false;
  for (let failures = 1; ; failures++) {
    let cause: FreshetError;
    try {
      for await (const news of connect(transport, at, sent, signal)) {
        failures = 0;
        started = true;
        if (news.unread !== undefined && !notifications) continue;
        renewed = typeof transport.options.token !== 'function';
        yield news;
      }
      cause = unreachable('it ended the stream');
    } catch (thrown) {
      throwIfAborted(signal);
      const error = started && sent.asking ? unreachable(thrown, 'get a token') : thrown;
      if (!renewed && isRefusedToken(error)) {
        renewed = true;
        sent.refused = sent.token;
        continue;
      }
      if (!mayHelp(error, true)) throw error;
      cause = error;
    }
    const wait = Math.min(Math.max(at.pause, backoff(transport.options.pause, Math.max(failures, 1)), cause.retryAfter), longestWait);
    transport.options.onRetry?.(cause, wait);
    onRetry?.(cause, wait);
    await sleep(wait, signal);
  }
}

/**
 * Yields the events of one connection, and stores in `at` the position and the pause that the
 * server requests.
 */
async function* connect(transport: Transport, at: { last: string; pause: number; silence: number }, sent: Sent, signal?: AbortSignal): AsyncGenerator<News> {
  const deadline = new Deadline(transport.options.timeout, signal);
  const begin = async () => {
    const headers = await transport.headers(sent, { Accept: 'text/event-stream', ...(at.last && { 'Last-Event-ID': at.last }) });
    return bodyOf(await transport.send({ method: 'GET', path: '/v1/stream', headers }, deadline.signal));
  };
  try {
    const body = await unlessAborted(begin(), deadline.signal);
    let began = false;
    for await (const block of blocks(body, deadline, at.silence)) {
      at.last = block.id ?? at.last;
      if (/^\d+$/.test(block.retry ?? '')) at.pause = Number(block.retry);
      if (block.event === 'new') yield { id: at.last, count: numberOf('count', block.data) };
      else if (block.event === 'notification') yield { id: at.last, count: 0, unread: numberOf('unread', block.data) };
      else if (!began) yield { id: at.last, count: 0 };
      began = true;
    }
  } catch (error) {
    throwIfAborted(signal);
    throw deadline.signal.aborted ? unreachable('it has stopped sending') : error;
  } finally {
    deadline.end();
  }
}

/** Returns the body of a stream; throws if the answer is not a stream. */
async function bodyOf(response: Response): Promise<ReadableStream<Uint8Array>> {
  const kind = response.headers.get('Content-Type') ?? '';
  if (response.status === 200 && kind.startsWith('text/event-stream')) {
    if (response.body) return response.body;
    throw new FreshetError('no_stream', 'this fetch does not support streaming response bodies');
  }
  open(response, await reach(() => response.text()));
  throw new FreshetError('not_freshet', 'the response to GET /v1/stream is not an event stream', { status: response.status });
}

function numberOf(field: 'count' | 'unread', data: string | undefined): number {
  try {
    const number = JSON.parse(data ?? '')[field];
    if (Number.isInteger(number)) return number;
  } catch { /* treated like an event without the number */ }
  throw new FreshetError('not_freshet', `the stream sent an invalid event: ${data}`);
}

/** A block of server-sent events, by the names of its fields. */
type Block = Partial<Record<string, string>>;

/**
 * Yields the blocks of a body that contain more than comments; all received data renews the
 * deadline.
 */
async function* blocks(body: ReadableStream<Uint8Array>, deadline: Deadline, silence: number): AsyncGenerator<Block> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { value, done } = await reach(() => unlessAborted(reader.read(), deadline.signal));
    if (done) return;
    deadline.renew(silence);
    const parts = (rest + decoder.decode(value, { stream: true }).replaceAll('\r', '')).split('\n\n');
    rest = parts.pop() ?? '';
    if (rest.length > longestBlock) throw new FreshetError('not_freshet', 'an event of the stream is too long');
    for (const part of parts) {
      const block = blockOf(part);
      if (Object.keys(block).length > 0) yield block;
    }
  }
}

function blockOf(text: string): Block {
  const block: Block = {};
  for (const line of text.split('\n')) {
    const [, name, value = ''] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name) block[name] = name === 'data' && block['data'] !== undefined ? `${block['data']}\n${value}` : value;
  }
  return block;
}
