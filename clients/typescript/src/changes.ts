import { FreshetError } from './errors.js';
import type { Sent, Transport } from './transport.js';
import { isRefusedToken, mayHelp, open, reach, unreachable } from './transport.js';
import { Deadline, backoff, sleep, throwIfAborted, unlessAborted } from './wait.js';

/** The type of a change. Later versions of the server may have others: ignore them. */
export type ChangeType =
  | 'follow.created' | 'follow.removed' | 'like.created' | 'like.removed' | 'post.created' | 'post.updated' | 'post.deleted' | 'reply.created'
  | 'mention.created' | 'block.created' | 'block.removed' | 'member.joined' | 'member.left' | 'invitation.created' | 'report.created'
  | 'post.held' | 'post.removed' | 'post.restored';

/** What a change is about. The description of GET /v1/changes has the fields of each type. */
export interface ChangeData {
  /** When it was made, in Unix seconds. */
  at: number;
  /** The post, or the group or event, or the item that is reported. */
  id?: string;
  agent_id?: string;
  author_id?: string;
  other_id?: string;
  owner_id?: string;
  reply_to?: string;
}

/** A change. One without a `type` only says that nothing has happened up to its `cursor`. */
export type Change = { cursor: string; type: ChangeType; data: ChangeData } | { cursor: string; type?: undefined; data?: undefined };

/** Options of {@link Client.changes}. */
export interface ChangesOptions {
  /** The `cursor` of the last change that was processed; `oldest` for all that are kept; omitted for from now on. */
  after?: string | undefined;
  /** Only changes of these types. */
  types?: ChangeType[] | undefined;
  /** Ends the iteration, which then throws the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Called when the server cannot be reached, with the reason and the wait until the next try in milliseconds. */
  onRetry?: ((cause: FreshetError, wait: number) => void) | undefined;
}

/** How long a server waits for a change, and how long the client waits for its answer, in milliseconds. */
const patience = { server: 25_000, client: 50_000 };

/**
 * Yields the changes of GET /v1/changes. It continues where it was while the server is unreachable or
 * busy, without losing or repeating a change.
 */
export async function* changes(transport: Transport, { after = '', types = [], signal, onRetry }: ChangesOptions = {}): AsyncGenerator<Change, never> {
  const sent: Sent = {};
  let renewed = typeof transport.options.token !== 'function';
  for (let failures = 0; ;) {
    try {
      const page = await some(transport, after, types, sent, signal);
      failures = 0;
      renewed = typeof transport.options.token !== 'function';
      for (const change of page) {
        if (change.type === undefined && change.cursor === after) continue;
        after = change.cursor;
        yield change;
      }
    } catch (error) {
      throwIfAborted(signal);
      if (!renewed && isRefusedToken(error)) {
        renewed = true;
        sent.refused = sent.token;
        continue;
      }
      if (!mayHelp(error, true)) throw error;
      failures++;
      const wait = Math.max(backoff(transport.options.pause, failures), error.retryAfter);
      transport.options.onRetry?.(error, wait);
      onRetry?.(error, wait);
      await sleep(wait, signal);
    }
  }
}

/** Reads one answer, whose last line has no type; of one that was cut off, the whole lines. */
async function some(transport: Transport, after: string, types: string[], sent: Sent, signal?: AbortSignal): Promise<Change[]> {
  const query = new URLSearchParams({ limit: '500' });
  if (after) { // without a cursor the first answer has the present one, at once
    query.set('after', after);
    query.set('wait', `${patience.server / 1000}s`);
  }
  if (types.length > 0) query.set('types', types.join(','));
  const deadline = new Deadline(Math.max(transport.options.timeout, patience.client), signal);
  const answer = async () => {
    const headers = await transport.headers(sent, { Accept: 'application/x-ndjson' });
    const response = await transport.send({ method: 'GET', path: `/v1/changes?${query}`, headers }, deadline.signal);
    if (response.status !== 200) open(response, await reach(() => response.text()));
    return linesOf(response);
  };
  try {
    return await unlessAborted(answer(), deadline.signal);
  } catch (error) {
    throwIfAborted(signal);
    throw deadline.signal.aborted ? unreachable('it did not answer') : error;
  } finally {
    deadline.end();
  }
}

async function linesOf(response: Response): Promise<Change[]> {
  const kind = response.headers.get('Content-Type') ?? '';
  if (!kind.startsWith('application/x-ndjson')) {
    throw new FreshetError('not_freshet', 'the response to GET /v1/changes has no lines of JSON', { status: response.status });
  }
  if (!response.body) throw new FreshetError('no_stream', 'this fetch does not support streaming response bodies');
  const page: Change[] = [];
  const cut = await readLines(response.body, page);
  if (page.length === 0) throw unreachable(cut);
  return page;
}

/** Adds the lines that arrive whole, and returns why there are no more. */
async function readLines(body: ReadableStream<Uint8Array>, page: Change[]): Promise<unknown> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return 'its answer was cut off';
      const parts = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) page.push(JSON.parse(part));
    }
  } catch (error) {
    return error;
  }
}
