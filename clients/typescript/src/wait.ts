/** Waits some milliseconds; rejects with the reason of the signal when that is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }, ms);
    signal?.addEventListener('abort', aborted, { once: true });
  });
}

/** A time limit that can be renewed, and ends also with a signal of the caller's. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #abort = () => this.#controller.abort();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, outer?: AbortSignal) {
    this.#outer = outer;
    outer?.throwIfAborted();
    outer?.addEventListener('abort', this.#abort, { once: true });
    this.renew(ms);
  }

  /** Is aborted when the time is over or the caller's signal is aborted. */
  get signal(): AbortSignal { return this.#controller.signal; }

  /** Begins anew, with so many milliseconds. */
  renew(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#abort, ms);
  }

  /** Ends it: what still goes on with its signal is aborted. */
  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#abort);
    this.#abort();
  }
}

const longestPause = 10_000;

/**
 * The wait after the n-th failure in a row, from 1, in milliseconds: between half and one
 * and a half times pause * 2^(n-1), so that clients do not come back all at once.
 */
export function backoff(pause: number, n: number): number {
  return Math.min(pause * 2 ** (n - 1) * (0.5 + Math.random()), longestPause);
}

/** A new name for a call, 32 hexadecimal digits. `randomUUID` is missing where a page came without TLS. */
export function newID(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
}
