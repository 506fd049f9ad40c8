/**
 * The kind of an error, for programs:
 *
 * - from an answer of the server: `bad_request` (400), `unauthenticated` (401), `forbidden`
 *   (403), `not_found` (404), `conflict` (409), `precondition` (412), `too_large` (413),
 *   `not_an_image` (415), `unprocessable` (422), `rate_limited` (429), `unavailable` (502,
 *   503, 504), `refused` (any other);
 * - without an answer: `unreachable` (no complete answer arrived), `timeout` (not within the
 *   timeout of the call), `superseded` (a newer call for the same thing replaces this one),
 *   `not_freshet` (the answer is not from a Freshet server), `no_stream` (this `fetch` does
 *   not support streaming bodies).
 */
export type ErrorKind =
  | 'bad_request' | 'unauthenticated' | 'forbidden' | 'not_found' | 'conflict' | 'precondition' | 'too_large'
  | 'not_an_image' | 'unprocessable' | 'rate_limited' | 'unavailable' | 'refused'
  | 'unreachable' | 'timeout' | 'superseded' | 'not_freshet' | 'no_stream';

const kinds: Record<number, ErrorKind> = {
  400: 'bad_request', 401: 'unauthenticated', 403: 'forbidden', 404: 'not_found', 409: 'conflict', 412: 'precondition',
  413: 'too_large', 415: 'not_an_image', 422: 'unprocessable', 429: 'rate_limited', 502: 'unavailable', 503: 'unavailable',
  504: 'unavailable',
};

const advice: Record<ErrorKind, string> = {
  bad_request: 'The message says what to send. Repeating the same call does not help.',
  unauthenticated: 'Give the client an agent or a valid token.',
  forbidden: 'The message says why. What belongs to another agent needs a call as that agent, or with the admin token.',
  not_found: 'Leave it out: nothing exists with this id, or nothing that the caller may see.',
  conflict: 'Take a new request id or key for another call.',
  precondition: 'Read again, then write.',
  too_large: 'Send less.',
  not_an_image: 'Send JPEG, PNG, GIF or WebP.',
  unprocessable: 'The message says which rule or limit to observe.',
  rate_limited: 'Call again after retryAfter milliseconds, and less often.',
  unavailable: 'Call again later.',
  refused: 'Look up the requestId in the server\'s log for the cause.',
  unreachable: 'Check the network and the address of the server; in a browser also that server.cors.origins contains the origin of the page.',
  timeout: 'Call again, or give the call more time.',
  superseded: 'Do nothing: the newer call determines the result.',
  not_freshet: 'Check the address of the server, and what is in front of it.',
  no_stream: 'Poll instead, as Feed.badge does.',
};

/** Details of a {@link FreshetError}. */
export interface ErrorDetails {
  status?: number | undefined;
  code?: number | undefined;
  retryAfter?: number | undefined;
  requestId?: string | undefined;
  data?: unknown;
  cause?: unknown;
}

/** A failed call. An aborted call rejects with the reason of its signal instead. */
export class FreshetError extends Error {
  override readonly name = 'FreshetError';
  /** The kind of error, for programs. */
  readonly kind: ErrorKind;
  /** The HTTP status; 0 without a complete answer. */
  readonly status: number;
  /** The code in the answer, such as 40003; 0 if the answer is not from Freshet. */
  readonly code: number;
  /** What to do about it, for developers. */
  readonly advice: string;
  /** How long the server asks to wait, in milliseconds; 0 if it does not. */
  readonly retryAfter: number;
  /** The id of the request in the server's log; "" if unknown. */
  readonly requestId: string;
  /** What was done in spite of the error, such as the report of an upload; usually undefined. */
  readonly data: unknown;

  /** Called by the client, and by tests of apps. */
  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.kind = kind;
    this.status = details.status ?? 0;
    this.code = details.code ?? 0;
    this.advice = advice[kind];
    this.retryAfter = details.retryAfter ?? 0;
    this.requestId = details.requestId ?? '';
    this.data = details.data;
  }
}

/** The error for an unsuccessful answer. envelope is its body, if it is Freshet's. */
export function refusal(response: Response, envelope?: { code: number; msg: string; data?: unknown }): FreshetError {
  const { status } = response;
  const message = envelope ? `the server answered ${status} (${envelope.code}): ${envelope.msg}` : `the server answered ${status}`;
  return new FreshetError(kinds[status] ?? 'refused', message, {
    status,
    code: envelope?.code,
    data: envelope?.data,
    retryAfter: wait(response.headers),
    requestId: response.headers.get('X-Request-ID') ?? '',
  });
}

/** Parses Retry-After, in seconds or as a date by the server's clock, and returns milliseconds. */
function wait(headers: Headers): number {
  const header = headers.get('Retry-After') ?? '';
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : dateOf(header) - (dateOf(headers.get('Date') ?? '') || Date.now());
  return ms > 0 ? ms : 0; // not NaN
}

/**
 * Parses an HTTP date; the format that ends with the year has no time zone. NaN if it is
 * invalid.
 */
function dateOf(header: string): number {
  return Date.parse(/ \d{4}$/.test(header) ? `${header} GMT` : header);
}
