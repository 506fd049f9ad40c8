import type { FreshetError } from './errors.js';

/** How a {@link Client} calls. */
export interface Options {
  /** The URL of the server, such as `http://127.0.0.1:8080`; in a page also a path of its own server, such as `/api`. */
  server: string | URL;
  /** Who reads, in `X-Agent-ID`, for servers in header mode. Leave it to a gateway that sets it. */
  agent?: string | undefined;
  /**
   * A Bearer token: an agent's, for servers in jwt mode. A function is asked before each
   * try, so that it can renew a token that is about to expire, and once more after a 401; the
   * call fails with its error.
   */
  token?: string | (() => string | Promise<string>) | undefined;
  /** More headers, such as `X-Admin-Token`. */
  headers?: Record<string, string> | undefined;
  /** With `include`, cookies are sent to other origins, for a gateway that knows readers by a cookie. */
  credentials?: 'omit' | 'same-origin' | 'include' | undefined;
  /** How long one try may take until its answer is there, in milliseconds; 15,000 where it is left out. */
  timeout?: number | undefined;
  /**
   * How often a call is tried while the server cannot be reached or is busy; 4 where it is
   * left out, 1 for no retries. Only calls that cannot do a thing twice are tried again.
   */
  tries?: number | undefined;
  /**
   * About the wait before the second try, in milliseconds; 250 where it is left out. Each
   * further wait is about twice as long, at most 10 s, or what the server asks for with
   * `Retry-After` if that is longer. A call that cannot wait that long fails at once.
   */
  pause?: number | undefined;
  /** Is told before each wait for another try: the error, and the wait in milliseconds. */
  onRetry?: ((cause: FreshetError, wait: number) => void) | undefined;
  /** Makes the calls in place of the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** How a single call differs. */
export interface CallOptions {
  /** Ends the call, its retries included; it rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** In place of {@link Options.timeout}. */
  timeout?: number | undefined;
}

/** One call, for a route that has no method here. */
export interface Call {
  method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** Escaped, with the query; begins with `/v1`. */
  path: string;
  /** Sent as JSON, a `FormData` as a form. */
  body?: unknown;
  /** More headers, such as `If-Match`. */
  headers?: Record<string, string> | undefined;
  /** The call may be made again where it is not known whether it has been carried out. */
  repeatable?: boolean | undefined;
  /** When the last try may begin at the latest, in milliseconds after the first; 45,000 where it is left out. */
  within?: number | undefined;
}
