/** The reason of an aborted signal. Signals in React Native do not have it. */
export function reasonOf(signal: AbortSignal): unknown {
  return signal.reason ?? Object.assign(new Error('the call was aborted'), { name: 'AbortError' });
}

/** Throws if a signal is aborted. Signals in React Native have no method for it. */
export function throwIfAborted(signal?: AbortSignal): void {
  if (signal?.aborted) throw reasonOf(signal);
}

/** What waits for a signal, and the listener that calls it. */
interface Waiting {
  readonly calls: Set<() => void>;
  readonly listener: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls a function when the signal is aborted. Returns a function that ends that. All of a signal
 * share one listener: an app may pass one signal to many calls at once, and Node warns of a leak
 * at the eleventh listener.
 */
export function onAbort(signal: AbortSignal | undefined, call: () => void): () => void {
  if (!signal) return () => {};
  let all = waiting.get(signal);
  if (!all) {
    const calls = new Set<() => void>();
    all = { calls, listener: () => { for (const one of [...calls]) one(); } };
    waiting.set(signal, all);
    signal.addEventListener('abort', all.listener);
  }
  const { calls, listener } = all;
  calls.add(call);
  return () => {
    if (!calls.delete(call) || calls.size > 0) return;
    waiting.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}

/**
 * Settles like the promise, or rejects as soon as one of the signals is aborted, even if the
 * promise ignores it.
 */
export async function unlessAborted<T>(promise: Promise<T>, ...signals: (AbortSignal | undefined)[]): Promise<T> {
  let ends: (() => void)[] = [];
  try {
    return await Promise.race([promise, new Promise<never>((_, reject) => {
      const aborted = () => {
        const first = signals.find((signal) => signal?.aborted);
        if (first) reject(reasonOf(first));
      };
      ends = signals.map((signal) => onAbort(signal, aborted));
      aborted();
    })]);
  } finally {
    for (const end of ends) end();
  }
}

/** The longest delay of a timer; a longer one fires at once. */
const longestTimer = 2 ** 31 - 1;

/** Waits some milliseconds; rejects with the signal's reason when one of the signals is aborted. */
export async function sleep(ms: number, ...signals: (AbortSignal | undefined)[]): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await unlessAborted(new Promise((resolve) => { timer = setTimeout(resolve, Math.min(ms, longestTimer)); }), ...signals);
  } finally {
    clearTimeout(timer);
  }
}

/** A renewable time limit, which is also ended by the caller's signal. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #leave: () => void;
  readonly #abort = () => this.#controller.abort();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, outer?: AbortSignal) {
    throwIfAborted(outer);
    this.#leave = onAbort(outer, this.#abort);
    this.renew(ms);
  }

  /** Aborted when the time is over or the caller's signal is aborted. */
  get signal(): AbortSignal { return this.#controller.signal; }

  /** Restarts it with this many milliseconds. */
  renew(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#abort, Math.min(ms, longestTimer));
  }

  /** Ends it and aborts everything that still uses its signal. */
  end(): void {
    clearTimeout(this.#timer);
    this.#leave();
    this.#abort();
  }
}

const longestPause = 10_000;

/**
 * The wait after the n-th consecutive failure, from 1, in milliseconds: between half and one
 * and a half times pause * 2^(n-1), so that clients do not all retry at once.
 */
export function backoff(pause: number, n: number): number {
  return Math.min(pause * 2 ** (n - 1) * (0.5 + Math.random()), longestPause);
}

/**
 * A new id for a call, 32 hexadecimal digits. `randomUUID` is missing in pages loaded without
 * TLS, and all of `crypto` in React Native. The id is not a secret.
 */
export function newID(): string {
  const bytes = new Uint8Array(16);
  if (typeof crypto === 'object') crypto.getRandomValues(bytes);
  else bytes.forEach((_, i) => { bytes[i] = Math.random() * 256; });
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
}
