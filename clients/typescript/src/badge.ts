import type { Client } from './client.js';
import type { CallOptions } from './options.js';
import type { Page } from './types.js';
import { sleep } from './wait.js';

/** How much is new since the last refresh. */
export interface Badge {
  /** Unseen items and posts of the feed that are newer, as a silent refresh counts them (`new_count`). */
  count: number;
  /** Posts that the stream has told of, which are new in the timeline; 0 without a stream. */
  posts: number;
  /** Whether there is a stream: changes are told within seconds. */
  live: boolean;
}

/** How a badge looks for what is new. */
export interface BadgeOptions {
  /**
   * The pause between two silent refreshes, in milliseconds; 30,000 where it is left out.
   * Twice that while there is a stream, which tells of posts but not of items.
   */
  every?: number;
  /** The `id` of the newest post that is shown, as {@link News.id}: the stream tells what is new since. */
  last?: string;
  /**
   * Is told why there is no stream, or why a silent refresh failed. The badge goes on by
   * itself. An error that stays, such as `unauthenticated`, comes again with each look.
   */
  onError?: (error: unknown) => void;
}

/** The pauses of looks after news, in milliseconds: recall may have a post some seconds after the timeline. */
const afterNews = [3000, 7000];

/** Keeps a badge. The stream says when to look, a silent refresh what is new. */
export class BadgeWatch {
  readonly #client: Client;
  readonly #silent: (options: CallOptions) => Promise<Page>;
  readonly #callback: (badge: Badge) => void;
  readonly #options: BadgeOptions;
  #badge: Badge = { count: 0, posts: 0, live: false };
  #told = ''; // what the callback was told last
  #last: string | undefined;
  #pauses: number[] = [];
  #cleared = 0;
  #stopped = false;
  #running: AbortController | undefined;
  #wake: () => void = () => {};

  constructor(client: Client, silent: (options: CallOptions) => Promise<Page>, callback: (badge: Badge) => void, options: BadgeOptions = {}) {
    this.#client = client;
    this.#silent = silent;
    this.#callback = callback;
    this.#options = options;
    this.#last = options.last;
    page?.addEventListener('visibilitychange', this.#turn);
    this.#turn();
  }

  /** Begins anew: what there is has been read. */
  clear(): void {
    this.#cleared++;
    this.#tell({ count: 0, posts: 0 });
  }

  /** Ends it. The callback is not called any more. */
  stop(): void {
    page?.removeEventListener('visibilitychange', this.#turn);
    this.#running?.abort();
    this.#stopped = true;
  }

  /** Runs while the page is looked at: a browser has few connections to one server, for all its tabs. */
  readonly #turn = () => {
    this.#running?.abort();
    this.#badge.live = false;
    if (page?.hidden) return;
    this.#running = new AbortController();
    const { signal } = this.#running;
    for (const part of [this.#listen(signal), this.#poll(signal)]) {
      part.catch((error: unknown) => { if (!signal.aborted) this.#options.onError?.(error); });
    }
  };

  async #listen(signal: AbortSignal): Promise<void> {
    const onRetry = () => this.#tell({ live: false });
    try {
      for await (const { id, count } of this.#client.stream({ signal, onRetry, ...(this.#last && { last: this.#last }) })) {
        this.#last = id;
        this.#tell({ posts: this.#badge.posts + count, live: true });
        if (count === 0) continue;
        this.#pauses = [...afterNews];
        this.#wake();
      }
    } finally {
      if (!signal.aborted) onRetry();
    }
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const { every = 30_000 } = this.#options;
    while (!signal.aborted) {
      await this.#look(signal);
      await this.#pause(this.#pauses.shift() ?? every * (this.#badge.live ? 2 : 1), signal);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const cleared = this.#cleared;
    try {
      const { new_count: count = 0 } = await this.#silent({ signal });
      if (cleared === this.#cleared && !signal.aborted) this.#tell({ count });
    } catch (error) {
      if (!signal.aborted) this.#options.onError?.(error);
    }
  }

  /** Waits, less long where news come. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    signal.addEventListener('abort', this.#wake, { once: true });
    await sleep(ms, woken.signal).catch(() => {});
    signal.removeEventListener('abort', this.#wake);
  }

  #tell(change: Partial<Badge>): void {
    this.#badge = { ...this.#badge, ...change };
    const now = JSON.stringify(this.#badge);
    if (now === this.#told) return;
    this.#told = now;
    const badge = { ...this.#badge };
    // Apart, so that an error of the callback is one of the app and does not end the badge.
    queueMicrotask(() => { if (!this.#stopped) this.#callback(badge); });
  }
}

const page = typeof document === 'undefined' ? undefined : document;
