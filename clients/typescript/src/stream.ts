import { FreshetError } from './errors.js';
import type { Transport } from './transport.js';
import { isRefusedToken, mayHelp, open, reach, unreachable } from './transport.js';
import { Deadline, backoff, sleep, throwIfAborted, unlessAborted } from './wait.js';

/** What a stream tells. */
export interface News {
  /** Where the stream is: give it to a later stream as `last`. */
  id: string;
  /**
   * How many posts are new in the timeline since the news before, 99 for that many or
   * more. 0: the stream has begun, or has begun again after it broke off.
   */
  count: number;
}

/** Where a stream begins and when it ends. */
export interface StreamOptions {
  /** The `id` of the latest news that the caller knows of; left out: from now on. */
  last?: string | undefined;
  /** Ends the stream, which then throws the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Is told why there is no stream at the moment, and the wait until the next try in milliseconds. */
  onRetry?: ((cause: FreshetError, wait: number) => void) | undefined;
}

/** The most that is kept of a block that is not whole yet, in characters. */
const longestBlock = 64 * 1024;

/** The longest wait for a new try, in milliseconds, whatever the server asks for. */
const longestWait = 60 * 60_000;

/**
 * Yields what GET /v1/stream tells. It connects again, where it has been, when the stream
 * ends, when it is silent for so many milliseconds, though a server sends something every
 * 15 s, and while the server cannot be reached or is busy.
 */
export async function* stream(
  transport: Transport, { last = '', signal, onRetry }: StreamOptions = {}, silence = 60_000,
): AsyncGenerator<News, never> {
  const at = { last, pause: 1000, silence };
  let renewed = typeof transport.options.token !== 'function';
  for (let failures = 1; ; failures++) {
    let cause: FreshetError;
    try {
      for await (const news of connect(transport, at, signal)) {
        failures = 0;
        renewed = typeof transport.options.token !== 'function';
        yield news;
      }
      cause = unreachable('it has ended the stream');
    } catch (error) {
      if (!renewed && isRefusedToken(error)) {
        renewed = true;
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

/** Yields what one connection tells, and notes in at where it is and how long the server asks to wait. */
async function* connect(transport: Transport, at: { last: string; pause: number; silence: number }, signal?: AbortSignal): AsyncGenerator<News> {
  const deadline = new Deadline(transport.options.timeout, signal);
  const begin = async () => {
    const headers = await transport.headers({ Accept: 'text/event-stream', ...(at.last && { 'Last-Event-ID': at.last }) });
    return bodyOf(await transport.send({ method: 'GET', path: '/v1/stream', headers }, deadline.signal));
  };
  try {
    const body = await unlessAborted(begin(), deadline.signal);
    let began = false;
    for await (const block of blocks(body, deadline, at.silence)) {
      at.last = block.id ?? at.last;
      if (/^\d+$/.test(block.retry ?? '')) at.pause = Number(block.retry);
      if (block.event === 'new') yield { id: at.last, count: countOf(block.data) };
      else if (!began) yield { id: at.last, count: 0 };
      began = true;
    }
  } catch (error) {
    throwIfAborted(signal);
    throw deadline.signal.aborted ? unreachable('it is silent') : error;
  } finally {
    deadline.end();
  }
}

/** The body of a stream; an error where the answer is none. */
async function bodyOf(response: Response): Promise<ReadableStream<Uint8Array>> {
  const kind = response.headers.get('Content-Type') ?? '';
  if (response.status === 200 && kind.startsWith('text/event-stream')) {
    if (response.body) return response.body;
    throw new FreshetError('no_stream', 'this fetch does not give the body of an answer while it comes');
  }
  open(response, await reach(() => response.text()));
  throw new FreshetError('not_freshet', 'GET /v1/stream was not answered with a stream', { status: response.status });
}

function countOf(data: string | undefined): number {
  try {
    const { count } = JSON.parse(data ?? '');
    if (Number.isInteger(count)) return count;
  } catch { /* as one that has no count */ }
  throw new FreshetError('not_freshet', `the event of the stream cannot be read: ${data}`);
}

/** A block of server-sent events, by the names of its fields. */
type Block = Partial<Record<string, string>>;

/** Yields the blocks of a body that are not comments alone, each part of which renews the deadline. */
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
    if (rest.length > longestBlock) throw new FreshetError('not_freshet', 'a block of the stream is too long');
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
