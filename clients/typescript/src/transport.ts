import { FreshetError, refusal } from './errors.js';
import type { Call, CallOptions, Options } from './options.js';
import { Deadline, backoff, sleep, throwIfAborted, unlessAborted } from './wait.js';

/** The latest start of the last retry after a call: a server stores a request id for a minute. */
const within = 45_000;

const defaults = { timeout: 15_000, tries: 4, pause: 250 };

/** A pending call that changes something. */
interface Change {
  /** Aborted when a newer call replaces this one, which is then not retried. */
  overtaken: AbortController;
  ended: Promise<void>;
}

/** The token of a call's latest try, and the one that the server has refused. */
export interface Sent {
  token?: string | undefined;
  refused?: string | undefined;
  /** The token function has been called, and has not returned. */
  asking?: boolean;
}

/** Makes calls and retries them. {@link Client} has the routes. */
export class Transport {
  readonly options: Omit<Options, keyof typeof defaults> & typeof defaults;
  /** The URL of the server, without a trailing slash. */
  readonly base: string;
  readonly #changes = new Map<string, Change[]>(); // by subject
  /** The pending call of the token function. */
  #asked: { token: Promise<string>; until: number } | undefined;
  #token: string | undefined; // the last that the function has returned

  constructor(options: Options) {
    this.base = baseOf(String(options.server));
    const { timeout = defaults.timeout, tries = defaults.tries, pause = defaults.pause } = options;
    this.options = { ...options, timeout, tries, pause };
  }

  /**
   * Makes a call and returns the data of its answer. Changes of the same thing (the same path)
   * are made one after the other, so that the last one takes effect.
   */
  async do<T>(call: Call, options: CallOptions = {}): Promise<T> {
    if (call.method === 'GET' || call.method === 'POST') return this.#tries<T>(call, options);
    const change: Change = { overtaken: new AbortController(), ended: Promise.resolve() };
    const subject = call.path.split('?until=')[0]!; // a mute is the same whenever it ends
    const before = this.#changes.get(subject) ?? [];
    // A call without a body, such as a like, fully determines the new state, so it replaces
    // earlier ones.
    if (call.body === undefined) for (const { overtaken } of before) overtaken.abort();
    const made = this.#inTurn<T>(call, options, before, change.overtaken.signal);
    const end = () => this.#end(subject, change);
    change.ended = made.then(end, end);
    this.#changes.set(subject, [...before, change]);
    return made;
  }

  /** Downloads content that is not JSON. */
  blob(path: string, options: CallOptions = {}): Promise<Blob> {
    if (!path.startsWith('/')) throw new TypeError(`an image on the server is given by its path, such as /media/…, not ${JSON.stringify(path)}`);
    return this.#tries<Blob>({ method: 'GET', path, repeatable: true }, options, undefined, async (response) => {
      if (!response.ok) open(response, await reach(() => response.text()));
      return reach(() => response.blob());
    });
  }

  #end(subject: string, change: Change): void {
    const left = (this.#changes.get(subject) ?? []).filter((other) => other !== change);
    if (left.length > 0) this.#changes.set(subject, left);
    else this.#changes.delete(subject);
  }

  async #inTurn<T>(call: Call, options: CallOptions, before: Change[], overtaken: AbortSignal): Promise<T> {
    try {
      const turn = Promise.all(before.map(({ ended }) => ended));
      if (before.length > 0) await unlessAborted(turn, options.signal, overtaken);
      return await this.#tries<T>(call, options, overtaken);
    } catch (error) {
      throwIfAborted(options.signal);
      if (!overtaken.aborted || error instanceof FreshetError && !mayHelp(error, true)) throw error;
      throw new FreshetError('superseded', `${call.method} ${call.path} was superseded by a newer call on the same subject`, { cause: error });
    }
  }

  async #tries<T>(call: Call, options: CallOptions, overtaken?: AbortSignal, read = data<T>): Promise<T> {
    const { tries, pause, onRetry, token } = this.options;
    const start = performance.now();
    let renewed = typeof token !== 'function';
    const sent: Sent = {};
    for (let n = 1; ; n++) {
      try {
        return await this.#once<T>(call, options, read, sent);
      } catch (error) {
        if (!renewed && isRefusedToken(error)) {
          renewed = true;
          sent.refused = sent.token;
          n--;
          continue;
        }
        if (n >= tries || overtaken?.aborted || !mayHelp(error, call.repeatable ?? false)) throw error;
        const wait = Math.max(backoff(pause, n), error.retryAfter);
        // The server's error is more useful than an error about a wait that is too long.
        if (performance.now() + wait > start + (call.within ?? within)) throw error;
        onRetry?.(error, wait);
        await sleep(wait, options.signal, overtaken);
      }
    }
  }

  async #once<T>(call: Call, { signal, timeout = this.options.timeout }: CallOptions, read: (response: Response) => Promise<T>, sent: Sent): Promise<T> {
    const deadline = new Deadline(timeout, signal);
    const answer = async () => {
      const headers = await this.headers(sent, call.headers);
      return read(await this.send({ ...call, headers }, deadline.signal));
    };
    try {
      return await unlessAborted(answer(), deadline.signal);
    } catch (error) {
      throwIfAborted(signal);
      if (!deadline.signal.aborted) throw error;
      throw new FreshetError('timeout', `${call.method} ${call.path} was not answered within ${timeout} ms`, { cause: error });
    } finally {
      deadline.end();
    }
  }

  /** Returns the headers of one try, including authentication. */
  async headers(sent: Sent, more?: Record<string, string>): Promise<Record<string, string>> {
    const { agent, token, headers } = this.options;
    const { refused } = sent;
    sent.refused = undefined;
    sent.asking = typeof token === 'function';
    sent.token = typeof token === 'function' ? await this.#ask(token, refused) : token;
    sent.asking = false;
    return {
      Accept: 'application/json',
      ...(agent && { 'X-Agent-ID': agent }),
      ...(sent.token && { Authorization: `Bearer ${sent.token}` }),
      ...headers,
      ...more,
    };
  }

  /**
   * Asks the token function. Calls at the same time share one answer, and what another call has got
   * since replaces a refused token: many identity providers take a refresh token once.
   */
  #ask(token: () => string | Promise<string>, refused: string | undefined): Promise<string> {
    if (refused !== undefined && this.#token !== undefined && this.#token !== refused) return Promise.resolve(this.#token);
    const now = performance.now();
    if (this.#asked && now < this.#asked.until) return this.#asked.token;
    const end = () => {
      if (this.#asked === asked) this.#asked = undefined;
    };
    const answer = (async () => this.#token = await token())();
    const asked = { token: answer, until: now + this.options.timeout }; // one that never answers blocks no later call
    this.#asked = asked;
    answer.then(end, end);
    return answer;
  }

  /** Makes one try. */
  async send({ method, path, body, headers }: Call, signal: AbortSignal): Promise<Response> {
    const { credentials, fetch = globalThis.fetch } = this.options;
    const form = body instanceof FormData; // fetch sets its Content-Type
    const response = await reach(() => fetch(this.base + path, {
      method,
      headers: { ...headers, ...(body !== undefined && !form && { 'Content-Type': 'application/json' }) },
      signal,
      redirect: 'manual', // following it would send credentials to another host
      ...(credentials && { credentials }),
      ...(body !== undefined && { body: form ? body : JSON.stringify(body) }),
    }));
    if (response.type === 'opaqueredirect' || response.status >= 300 && response.status < 400) {
      throw new FreshetError('not_freshet', `${this.base} redirects; give the client the address it redirects to`, { status: response.status });
    }
    return response;
  }
}

/** Validates a URL, or in a page a path on the page's server. */
function baseOf(server: string): string {
  const page = typeof location === 'undefined' ? undefined : location.origin;
  const base = (server.startsWith('/') && page?.startsWith('http') ? page + server : server).replace(/\/+$/, '');
  if (/^https?:\/\/[^/?#]+[^?#]*$/.test(base)) return base;
  throw new TypeError(`server must be a URL such as http://127.0.0.1:8080, or in a page a path such as /api, not ${JSON.stringify(server)}`);
}

/** Returns the data of an answer. */
async function data<T>(response: Response): Promise<T> {
  return open<T>(response, await reach(() => response.text()));
}

/** Whether a retry may help and is safe. */
export function mayHelp(error: unknown, repeatable: boolean): error is FreshetError {
  if (!(error instanceof FreshetError)) return false;
  if (error.kind === 'rate_limited') return true; // rejected before anything was done
  return repeatable && (error.kind === 'unavailable' || error.kind === 'unreachable' || error.kind === 'timeout');
}

/** Whether another token may help. A call rejected for its token has changed nothing. */
export function isRefusedToken(error: unknown): boolean {
  return error instanceof FreshetError && error.kind === 'unauthenticated';
}

/** Runs an operation whose errors come only from the network. */
export async function reach<T>(what: () => Promise<T>): Promise<T> {
  try {
    return await what();
  } catch (cause) {
    throw unreachable(cause);
  }
}

/** The error of a call without a complete answer. */
export function unreachable(cause: unknown, what = 'reach the server'): FreshetError {
  return new FreshetError('unreachable', `cannot ${what}: ${reason(cause)}`, { cause });
}

/** Node's fetch reports "fetch failed"; the actual reason is in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message ? error.cause.message : error.message;
}

/** Removes the envelope of an answer. */
export function open<T>(response: Response, text: string): T {
  const envelope = parse(text);
  if (!response.ok) throw refusal(response, envelope);
  if (envelope?.code !== 0) {
    const kind = response.headers.get('Content-Type') ?? 'no content type';
    throw new FreshetError('not_freshet', `the response is not from a Freshet server (${kind}, ${text.length} characters)`, { status: response.status });
  }
  return envelope.data as T;
}

function parse(text: string): { code: number; msg: string; data?: unknown } | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value?.code === 'number' ? value : undefined;
  } catch {
    return undefined;
  }
}
