import type { FreshetError } from './errors.js';

/** Options of a {@link Client}. */
export interface Options {
  /**
   * The URL of the server, such as `http://127.0.0.1:8080`; in a page also a path on its own
   * server, such as `/api`.
   */
  server: string | URL;
  /**
   * The reader's agent id, sent as `X-Agent-ID`, for servers in header mode. Omit it behind a
   * gateway that sets it.
   */
  agent?: string | undefined;
  /**
   * A Bearer token of an agent, for servers in jwt mode. A function is called before each try,
   * so that it can renew an expiring token, and once more after a 401; the call fails with its
   * error. Calls at the same time share one answer of the function.
   */
  token?: string | (() => string | Promise<string>) | undefined;
  /** Further headers, such as `X-Admin-Token`. */
  headers?: Record<string, string> | undefined;
  /**
   * With `include`, cookies are sent to other origins, for a gateway that identifies readers by
   * cookie.
   */
  credentials?: 'omit' | 'same-origin' | 'include' | undefined;
  /** The timeout of one try, in milliseconds; default 15,000. */
  timeout?: number | undefined;
  /**
   * The number of tries while the server is unreachable or busy; default 4, 1 for no retries.
   * Only calls that cannot take effect twice are retried.
   */
  tries?: number | undefined;
  /**
   * The approximate wait before the second try, in milliseconds; default 250. Each further wait
   * is about twice as long, at most 10 s, or what the server requests with `Retry-After` if
   * that is longer. A call that cannot wait that long fails at once.
   */
  pause?: number | undefined;
  /** Called before each retry with the error and the wait in milliseconds. */
  onRetry?: ((cause: FreshetError, wait: number) => void) | undefined;
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** Options of a single call. */
export interface CallOptions {
  /** Aborts the call and its retries; it rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Overrides {@link Options.timeout}. */
  timeout?: number | undefined;
}

/** A call to a route that has no method here. */
export interface Call {
  method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** Escaped, including the query; starts with `/v1`. */
  path: string;
  /** Sent as JSON, or as a form if it is a `FormData`. */
  body?: unknown;
  /** Further headers, such as `If-Match`. */
  headers?: Record<string, string> | undefined;
  /** The call may be repeated if it is unknown whether it took effect. */
  repeatable?: boolean | undefined;
  /** The latest start of the last try, in milliseconds after the first; default 45,000. */
  within?: number | undefined;
}
