import type { Client } from './client.js';
import { FreshetError } from './errors.js';
import type { CallOptions } from './options.js';
import { listen } from './shared.js';
import type { Page } from './types.js';
import { sleep } from './wait.js';

/** The number of new entries since the last refresh. */
export interface Badge {
  /**
   * The number to show: newer unseen items and posts of the feed, as a silent refresh counts
   * them (`new_count`). A refresh on any of the reader's devices resets it.
   */
  count: number;
  /**
   * New posts in the timeline, as reported by the stream; 0 without a stream. Reset by a
   * refresh of this feed. Also reset when `count` falls because the reader has read in another
   * tab or on another device; that is noticed with the next check, or when a hidden page is
   * shown.
   */
  posts: number;
  /** Whether a stream is open: then changes are reported within seconds. */
  live: boolean;
}

/** How a badge checks for new entries. */
export interface BadgeOptions {
  /**
   * The interval of silent refreshes, in milliseconds; default 30,000. It doubles while a
   * stream is open, which reports posts but not items.
   */
  every?: number | undefined;
  /** The `id` of the newest post shown, as {@link News.id}: the stream reports posts after it. */
  last?: string | undefined;
  /**
   * Called with the reason why there is no stream, or why a silent refresh failed. The badge
   * continues: a lasting error, such as `unauthenticated`, is reported with each check. After
   * four checks it also tries to reopen the stream.
   */
  onError?: ((error: unknown) => void) | undefined;
}

/**
 * Delays of the checks after news, in milliseconds: recall may lag the timeline by some
 * seconds.
 */
const afterNews = [3000, 7000];

/** The number of checks before a badge whose stream was refused tries to reopen it. */
const checksBetween = 4;

/** Maintains a badge. The stream triggers checks; a silent refresh counts what is new. */
export class BadgeWatch {
  readonly #client: Client;
  readonly #silent: (options: CallOptions) => Promise<Page>;
  readonly #callback: (badge: Badge) => void;
  readonly #options: BadgeOptions;
  #badge: Badge = { count: 0, posts: 0, live: false };
  #lastSent = ''; // the last value passed to the callback
  #last: string | undefined;
  #pauses: number[] = [];
  #cleared = 0;
  #checksLeft = 0; // checks until the stream is retried; 0 if none is due
  #stopped = false;
  #running: AbortController | undefined;
  #leave: () => void = () => {}; // stops listening
  #wake: () => void = () => {};

  constructor(client: Client, silent: (options: CallOptions) => Promise<Page>, callback: (badge: Badge) => void, options: BadgeOptions = {}) {
    this.#client = client;
    this.#silent = silent;
    this.#callback = callback;
    this.#options = options;
    this.#last = options.last;
    page?.addEventListener('visibilitychange', this.#restart);
    this.#restart();
  }

  /** Resets the badge: everything has been read. */
  clear(): void {
    this.#cleared++;
    this.#update({ count: 0, posts: 0 });
  }

  /** Stops the badge. The callback is not called any more. */
  stop(): void {
    this.#stopped = true;
    page?.removeEventListener('visibilitychange', this.#restart);
    this.#end();
  }

  /**
   * Runs only while the page is visible: a browser limits the connections to one server over
   * all tabs.
   */
  readonly #restart = () => {
    this.#end();
    this.#badge.live = false;
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
    this.#leave = listen(this.#client, this.#last ?? '', {
      news: ({ id, count }) => {
        this.#last = id;
        this.#update({ posts: this.#badge.posts + count, live: true });
        if (count === 0) return;
        this.#pauses = [...afterNews];
        this.#wake();
      },
      broken: () => this.#update({ live: false }),
      ended: (error) => {
        this.#update({ live: false });
        this.#failed(error);
        // A fetch without streaming never gains it.
        if (!(error instanceof FreshetError && error.kind === 'no_stream')) this.#checksLeft = checksBetween;
      },
    });
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const { every = 30_000 } = this.#options;
    while (!signal.aborted) {
      await this.#check(signal);
      if (!signal.aborted && this.#checksLeft > 0 && --this.#checksLeft === 0) this.#listen();
      await this.#pause(this.#pauses.shift() ?? every * (this.#badge.live ? 2 : 1), signal);
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const cleared = this.#cleared;
    try {
      const { new_count: count = 0 } = await this.#silent({ signal });
      if (cleared !== this.#cleared || signal.aborted) return;
      this.#update({ count, ...(count < this.#badge.count && { posts: 0 }) });
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    }
  }

  /** Waits, but not after news has arrived. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await sleep(ms, signal, woken.signal).catch(() => {});
  }

  #failed(error: unknown): void {
    const { onError } = this.#options;
    if (onError) this.#callLater(() => onError(error));
  }

  /** Calls the app in a separate task, so that its errors do not end the badge. */
  #callLater(call: () => void): void {
    queueMicrotask(() => { if (!this.#stopped) call(); });
  }

  #update(change: Partial<Badge>): void {
    this.#badge = { ...this.#badge, ...change };
    const now = JSON.stringify(this.#badge);
    if (now === this.#lastSent) return;
    this.#lastSent = now;
    const badge = { ...this.#badge };
    this.#callLater(() => this.#callback(badge));
  }
}

const page = typeof document === 'undefined' ? undefined : document;
