import type { Client } from './client.js';
import { FreshetError } from './errors.js';
import type { CallOptions } from './options.js';
import { listen } from './shared.js';
import type { Page } from './types.js';
import { sleep } from './wait.js';

/** How much is new since the last refresh. */
export interface Badge {
  /**
   * The number to show: unseen items and posts of the feed that are newer, as a silent
   * refresh counts them (`new_count`), wherever the reader has refreshed.
   */
  count: number;
  /**
   * Posts that the stream has told of, which are new in the timeline; 0 without a stream.
   * It begins anew with a refresh of this feed, and where `count` falls because the reader
   * has read in another tab or on another device: with the next look, or when a hidden
   * page is shown.
   */
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
  every?: number | undefined;
  /** The `id` of the newest post that is shown, as {@link News.id}: the stream tells what is new since. */
  last?: string | undefined;
  /**
   * Is told why there is no stream, or why a silent refresh failed. The badge goes on by
   * itself: an error that stays, such as `unauthenticated`, comes again with each look.
   * After four looks it also tries again to listen.
   */
  onError?: ((error: unknown) => void) | undefined;
}

/** The pauses of looks after news, in milliseconds: recall may have a post some seconds after the timeline. */
const afterNews = [3000, 7000];

/** How many looks there are before a badge whose stream was refused tries to listen again. */
const looksBetween = 4;

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
  #looks = 0; // before the next try to listen; 0: none is due
  #stopped = false;
  #running: AbortController | undefined;
  #leave: () => void = () => {}; // ends listening
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
    this.#stopped = true;
    page?.removeEventListener('visibilitychange', this.#turn);
    this.#end();
  }

  /** Runs while the page is looked at: a browser has few connections to one server, for all its tabs. */
  readonly #turn = () => {
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
    this.#looks = 0;
    this.#leave = listen(this.#client, this.#last ?? '', {
      news: ({ id, count }) => {
        this.#last = id;
        this.#tell({ posts: this.#badge.posts + count, live: true });
        if (count === 0) return;
        this.#pauses = [...afterNews];
        this.#wake();
      },
      broken: () => this.#tell({ live: false }),
      ended: (error) => {
        this.#tell({ live: false });
        this.#failed(error);
        // What this fetch cannot do now it never can.
        if (!(error instanceof FreshetError && error.kind === 'no_stream')) this.#looks = looksBetween;
      },
    });
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const { every = 30_000 } = this.#options;
    while (!signal.aborted) {
      await this.#look(signal);
      if (!signal.aborted && this.#looks > 0 && --this.#looks === 0) this.#listen();
      await this.#pause(this.#pauses.shift() ?? every * (this.#badge.live ? 2 : 1), signal);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const cleared = this.#cleared;
    try {
      const { new_count: count = 0 } = await this.#silent({ signal });
      if (cleared !== this.#cleared || signal.aborted) return;
      this.#tell({ count, ...(count < this.#badge.count && { posts: 0 }) });
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    }
  }

  /** Waits, less long where news come. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await sleep(ms, signal, woken.signal).catch(() => {});
  }

  #failed(error: unknown): void {
    const { onError } = this.#options;
    if (onError) this.#apart(() => onError(error));
  }

  /** Calls the app apart, so that an error of it is one of the app and does not end the badge. */
  #apart(call: () => void): void {
    queueMicrotask(() => { if (!this.#stopped) call(); });
  }

  #tell(change: Partial<Badge>): void {
    this.#badge = { ...this.#badge, ...change };
    const now = JSON.stringify(this.#badge);
    if (now === this.#told) return;
    this.#told = now;
    const badge = { ...this.#badge };
    this.#apart(() => this.#callback(badge));
  }
}

const page = typeof document === 'undefined' ? undefined : document;
