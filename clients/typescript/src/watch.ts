import type { Client } from './client.js';
import { FreshetError } from './errors.js';
import { listen } from './shared.js';
import type { News } from './stream.js';
import { sleep } from './wait.js';

/** How a watch checks. */
export interface WatchOptions {
  /** The interval of checks without a stream, in milliseconds. */
  every?: number | undefined;
  /** The position from which the stream reports; omitted for from now on. */
  last?: string | undefined;
  /** Called with the reason why there is no stream, or why a check failed. */
  onError?: ((error: unknown) => void) | undefined;
}

/** The number of checks before a watch whose stream was refused tries to reopen it. */
const checksBetween = 4;

/**
 * Follows the stream of a client, which all its watches share, and checks by calls what the stream
 * does not tell. It runs only while the page is visible: a browser limits the connections to one
 * server over all tabs.
 */
export abstract class Watch {
  protected readonly client: Client;
  readonly #options: WatchOptions;
  /** Whether the stream is open. */
  protected live = false;
  #last: string | undefined;
  #pauses: number[] = [];
  #checksLeft = 0; // checks until the stream is retried; 0 if none is due
  #checking = false;
  #stopped = false;
  #running: AbortController | undefined;
  #leave: () => void = () => {}; // stops listening
  #wake: () => void = () => {};

  constructor(client: Client, options: WatchOptions) {
    this.client = client;
    this.#options = options;
    this.#last = options.last;
  }

  /** The stream reported news, and is open; `began` with the first after it was not. */
  protected abstract heard(news: News, began: boolean): void;
  /** The stream was interrupted, or has ended. */
  protected abstract lost(): void;
  /** Asks the server. Its errors are reported. */
  protected abstract check(signal: AbortSignal): Promise<void>;
  /** The wait before the next check, in milliseconds. */
  protected abstract pause(every: number | undefined): number;
  /** The wait before the first check, in milliseconds. */
  protected abstract readonly first: number;

  /** Begins; called once, when the object is complete. */
  protected start(): void {
    page?.addEventListener('visibilitychange', this.#restart);
    this.#restart();
  }

  /** Ends it. The app is not called any more. */
  stop(): void {
    this.#stopped = true;
    page?.removeEventListener('visibilitychange', this.#restart);
    this.#end();
  }

  /** Checks now, and after each of these waits, in milliseconds, in place of the usual one. */
  protected checkNow(...then: number[]): void {
    this.#pauses = this.#checking ? [0, ...then] : then; // a check in progress may have missed the cause
    this.#wake();
  }

  /** Calls the app in a separate task, so that its errors do not end the watch. */
  protected callLater(call: () => void): void {
    queueMicrotask(() => { if (!this.#stopped) call(); });
  }

  readonly #restart = () => {
    this.#end();
    this.live = false;
    if (page?.hidden) return;
    this.#running = new AbortController();
    const { signal } = this.#running;
    this.#listen();
    void this.#poll(signal);
  };

  #end(): void {
    this.#running?.abort();
    this.#leave();
  }

  #listen(): void {
    this.#checksLeft = 0;
    this.#leave = listen(this.client, this.#last ?? '', {
      news: (news) => {
        const began = !this.live;
        this.#last = news.id;
        this.live = true;
        this.heard(news, began);
      },
      broken: () => this.#lose(),
      ended: (error) => {
        this.#lose();
        this.#failed(error);
        // A fetch without streaming never gains it.
        if (!(error instanceof FreshetError && error.kind === 'no_stream')) this.#checksLeft = checksBetween;
      },
    });
  }

  #lose(): void {
    this.live = false;
    this.lost();
  }

  async #poll(signal: AbortSignal): Promise<void> {
    if (this.first > 0) await this.#rest(this.first, signal);
    while (!signal.aborted) {
      this.#checking = true;
      await this.check(signal).catch((error: unknown) => { if (!signal.aborted) this.#failed(error); });
      this.#checking = false;
      if (!signal.aborted && this.#checksLeft > 0 && --this.#checksLeft === 0) this.#listen();
      await this.#rest(this.#pauses.shift() ?? this.pause(this.#options.every), signal);
    }
  }

  /** Waits, but not after news has arrived. */
  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await sleep(ms, signal, woken.signal).catch(() => {});
  }

  #failed(error: unknown): void {
    const { onError } = this.#options;
    if (onError) this.callLater(() => onError(error));
  }
}

const page = typeof document === 'undefined' ? undefined : document;
