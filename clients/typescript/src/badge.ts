import type { Client } from './client.js';
import type { CallOptions } from './options.js';
import type { News } from './stream.js';
import type { Page } from './types.js';
import { Watch } from './watch.js';

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
 * Delays of further checks after news, in milliseconds: recall may lag the timeline by some
 * seconds.
 */
const afterNews = [3000, 7000];

/** Maintains a badge. The stream triggers checks; a silent refresh counts what is new. */
export class BadgeWatch extends Watch {
  readonly #silent: (options: CallOptions) => Promise<Page>;
  readonly #callback: (badge: Badge) => void;
  #count = 0;
  #posts = 0;
  #lastSent = ''; // the last value passed to the callback
  #cleared = 0;
  protected readonly first = 0;

  constructor(client: Client, silent: (options: CallOptions) => Promise<Page>, callback: (badge: Badge) => void, options: BadgeOptions = {}) {
    super(client, options);
    this.#silent = silent;
    this.#callback = callback;
    this.start();
  }

  /** Resets the badge: everything has been read. */
  clear(): void {
    this.#cleared++;
    this.#update(0, 0);
  }

  protected heard({ count }: News): void {
    this.#update(this.#count, this.#posts + count);
    if (count > 0) this.checkNow(...afterNews);
  }

  protected lost(): void {
    this.#update(this.#count, this.#posts);
  }

  protected async check(signal: AbortSignal): Promise<void> {
    const cleared = this.#cleared;
    const { new_count: count = 0 } = await this.#silent({ signal });
    if (cleared !== this.#cleared || signal.aborted) return;
    this.#update(count, count < this.#count ? 0 : this.#posts);
  }

  protected pause(every = 30_000): number {
    return every * (this.live ? 2 : 1);
  }

  #update(count: number, posts: number): void {
    this.#count = count;
    this.#posts = posts;
    const badge = { count, posts, live: this.live };
    const now = JSON.stringify(badge);
    if (now === this.#lastSent) return;
    this.#lastSent = now;
    this.callLater(() => this.#callback(badge));
  }
}
