import { BadgeWatch, type Badge, type BadgeOptions } from './badge.js';
import type { Ask, Client } from './client.js';
import { FreshetError } from './errors.js';
import type { CallOptions } from './options.js';
import { within } from './transport.js';
import type { FeedName, Page } from './types.js';
import { newID } from './wait.js';

/** What holds for all pages of a {@link Feed}. */
export interface FeedOptions {
  /** Which of the reader's feeds; `for_you` where it is left out. */
  feed?: FeedName;
  /** Items of a page, 1 to 100; the server's 20 where it is left out. */
  limit?: number;
  /** Says of each entry in `in_feed.why` why it is there. */
  why?: boolean;
}

/** How a page differs. */
export interface FeedCallOptions extends CallOptions {
  /** In place of {@link FeedOptions.limit}. */
  limit?: number;
}

/** A call that may have been answered, though no answer came. */
interface Unanswered {
  call: string;
  id: string;
  since: number;
}

/**
 * One feed of one reader, as a list that is pulled down and scrolled.
 *
 * Each refresh and load_more has a `request_id`, which its retries keep, so that a page
 * whose answer was lost comes again. Where all tries fail, or the call is aborted, the
 * next call of the same kind takes the id on, for 45 seconds: no page is lost by it.
 */
export class Feed {
  /** What the feed calls with. */
  readonly client: Client;
  readonly #options: FeedOptions;
  readonly #badges = new Set<BadgeWatch>();
  #unanswered: Unanswered[] = [];

  /** One for each list: feeds of one reader share nothing but what the server keeps. */
  constructor(client: Client, options: FeedOptions = {}) {
    this.client = client;
    this.#options = options;
  }

  /** The best unseen items now. The rest of what was found waits for {@link loadMore}. Badges begin anew. */
  async refresh(options?: FeedCallOptions): Promise<Page> {
    const page = await this.#page('refresh', options);
    this.#unanswered = [];
    for (const badge of this.#badges) badge.clear();
    return page;
  }

  /**
   * The next page of the last refresh; a refresh where nothing is left of it, so ask on
   * until `items` is empty. Calls at the same time get different pages.
   */
  loadMore(options?: FeedCallOptions): Promise<Page> {
    return this.#page('load_more', options);
  }

  /** What a refresh would find that is newer than the last one, with `new_count`. It changes nothing. */
  silent({ limit = this.#options.limit, ...options }: FeedCallOptions = {}): Promise<Page> {
    return this.client.feed({ ...this.#ask('refresh', limit), silent: true }, options);
  }

  /**
   * Tells how much is new since the last refresh: once at the beginning, then with each
   * change. Within seconds where the server can be listened to (GET /v1/stream), and by
   * polling with silent refreshes where it cannot. In a browser it rests while the page
   * is hidden. Returns a function that ends it.
   */
  badge(callback: (badge: Badge) => void, options?: BadgeOptions): () => void {
    const watch = new BadgeWatch(this.client, (o) => this.silent({ ...o, limit: 1 }), callback, options);
    this.#badges.add(watch);
    return () => {
      watch.stop();
      this.#badges.delete(watch);
    };
  }

  #ask(action: Ask['action'], limit: number | undefined): Ask {
    const { feed, why } = this.#options;
    return { action, ...(limit !== undefined && { limit }), ...(feed && { feed }), ...(why && { why }) };
  }

  async #page(action: Ask['action'], { limit = this.#options.limit, ...options }: FeedCallOptions = {}): Promise<Page> {
    const { signal } = options;
    if (signal?.aborted) throw signal.reason;
    const ask = this.#ask(action, limit);
    const name = this.#take(JSON.stringify(ask));
    const left = name.since + within - performance.now();
    // Noted by the event and not after the await, because the caller may ask again in the
    // very tick in which it aborts.
    const aborted = () => { this.#unanswered.push(name); };
    signal?.addEventListener('abort', aborted, { once: true });
    try {
      const page = await this.client.feed({ ...ask, request_id: name.id }, { ...options, within: left });
      // The answer came with the abort: the page belongs to the call that took the id on.
      if (signal?.aborted) throw signal.reason;
      return page;
    } catch (error) {
      if (!signal?.aborted && !isAnswer(error)) this.#unanswered.push(name);
      throw error;
    } finally {
      signal?.removeEventListener('abort', aborted);
    }
  }

  /** The name of a call: that of an equal one that was not answered, or a new one. */
  #take(call: string): Unanswered {
    const now = performance.now();
    this.#unanswered = this.#unanswered.filter(({ since }) => now < since + within);
    const i = this.#unanswered.findIndex((one) => one.call === call);
    return this.#unanswered.splice(i, i < 0 ? 0 : 1)[0] ?? { call, id: newID(), since: now };
  }
}

/** Says whether the server has refused a call, which then has changed nothing. */
function isAnswer(error: unknown): boolean {
  return error instanceof FreshetError && error.status >= 400 && error.status < 500;
}
