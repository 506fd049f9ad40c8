import { FreshetError, refusal } from './errors.js';
import type { Call, CallOptions, Options } from './options.js';
import { Deadline, backoff, sleep } from './wait.js';

/** How long after a call its last retry may begin: a server knows a request id for a minute. */
export const within = 45_000;

const defaults = { timeout: 15_000, tries: 4, pause: 250 };

/** Makes calls, and makes them again. {@link Client} has the routes. */
export class Transport {
  readonly options: Options & typeof defaults;
  readonly #base: string;

  constructor(options: Options) {
    this.#base = String(options.server).replace(/\/+$/, '');
    if (!/^https?:\/\/[^/?#]+[^?#]*$/.test(this.#base)) {
      throw new TypeError(`server must be a URL such as http://127.0.0.1:8080, not ${JSON.stringify(options.server)}`);
    }
    this.options = { ...defaults, ...options };
  }

  /** Makes a call and returns the data of its answer. */
  async do<T>(call: Call, options: CallOptions = {}): Promise<T> {
    const { tries, pause, onRetry } = this.options;
    const start = performance.now();
    for (let n = 1; ; n++) {
      try {
        return await this.#once<T>(call, options);
      } catch (error) {
        if (n >= tries || !mayHelp(error, call.repeatable ?? false)) throw error;
        const wait = Math.max(backoff(pause, n), error.retryAfter);
        // What the server said tells more than a wait that is too long.
        if (performance.now() + wait > start + (call.within ?? within)) throw error;
        onRetry?.(error, wait);
        await sleep(wait, options.signal);
      }
    }
  }

  async #once<T>(call: Call, { signal, timeout = this.options.timeout }: CallOptions): Promise<T> {
    const headers = await this.headers(call.headers);
    const deadline = new Deadline(timeout, signal);
    try {
      const response = await this.send({ ...call, headers }, deadline.signal);
      return open<T>(response, await response.text());
    } catch (error) {
      if (error instanceof FreshetError) throw error;
      signal?.throwIfAborted();
      if (deadline.signal.aborted) {
        throw new FreshetError('timeout', `${call.method} ${call.path} was not answered within ${timeout} ms`, { cause: error });
      }
      throw unreachable(error);
    } finally {
      deadline.end();
    }
  }

  /** The headers of one try: who calls, and more. */
  async headers(more?: Record<string, string>): Promise<Record<string, string>> {
    const { agent, token, headers } = this.options;
    const bearer = typeof token === 'function' ? await token() : token;
    return {
      Accept: 'application/json',
      ...(agent && { 'X-Agent-ID': agent }),
      ...(bearer && { Authorization: `Bearer ${bearer}` }),
      ...headers,
      ...more,
    };
  }

  /** Makes one try. What it rejects with is fetch's, but for redirects. */
  async send({ method, path, body, headers }: Call, signal: AbortSignal): Promise<Response> {
    const { credentials, fetch = globalThis.fetch } = this.options;
    const form = body instanceof FormData; // fetch writes its Content-Type
    const response = await fetch(this.#base + path, {
      method,
      headers: { ...headers, ...(body !== undefined && !form && { 'Content-Type': 'application/json' }) },
      signal,
      redirect: 'manual', // to follow it would send who calls to another host
      ...(credentials && { credentials }),
      ...(body !== undefined && { body: form ? body : JSON.stringify(body) }),
    });
    if (response.type === 'opaqueredirect' || response.status >= 300 && response.status < 400) {
      throw new FreshetError('not_freshet', `${this.#base} redirects; give the client the address that it redirects to`, { status: response.status });
    }
    return response;
  }
}

/** Says whether another try may help and cannot do harm. */
export function mayHelp(error: unknown, repeatable: boolean): error is FreshetError {
  if (!(error instanceof FreshetError)) return false;
  if (error.kind === 'rate_limited') return true; // refused before anything was done
  return repeatable && (error.kind === 'unavailable' || error.kind === 'unreachable' || error.kind === 'timeout');
}

/** The error of a call that got no whole answer. */
export function unreachable(cause: unknown): FreshetError {
  return new FreshetError('unreachable', `cannot reach the server: ${reason(cause)}`, { cause });
}

/** fetch of Node says "fetch failed" and has what it means in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message ? error.cause.message : error.message;
}

/** Takes the envelope off an answer. */
export function open<T>(response: Response, text: string): T {
  const envelope = parse(text);
  if (!response.ok) throw refusal(response, envelope);
  if (envelope?.code !== 0) {
    const kind = response.headers.get('Content-Type') ?? 'of no type';
    throw new FreshetError('not_freshet', `what answered is not a Freshet server (${kind}, ${text.length} characters)`, { status: response.status });
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
