import { BadgeWatch, type Badge, type BadgeOptions } from './badge.js';
import { bindMethods } from './bound.js';
import type { Ask, Client } from './client.js';
import { FreshetError } from './errors.js';
import type { CallOptions } from './options.js';
import type { FeedName, Page } from './types.js';
import { newID, onAbort, reasonOf, throwIfAborted } from './wait.js';

/** Options for all pages of a {@link Feed}. */
export interface FeedOptions {
  /** The reader's feed; default `for_you`. */
  feed?: FeedName | undefined;
  /** Items per page, 1 to 100; default 20, set by the server. */
  limit?: number | undefined;
  /** Explains each entry in `in_feed.why`. */
  why?: boolean | undefined;
}

/** Options for one page. */
export interface FeedCallOptions extends CallOptions {
  /** Overrides {@link FeedOptions.limit}. */
  limit?: number | undefined;
}

/** A request for a page. */
interface PageCall {
  ask: Ask & { request_id: string };
  /** It is a repetition, and may have been answered before. */
  again: boolean;
  /** When to stop repeating it; 0 if it has not failed yet. */
  until: number;
}

/**
 * How long a lost page is requested again, in milliseconds: the server stores its answer for
 * that long, and a page that always fails must not block refreshes for ever.
 */
const remembered = 60_000;

/**
 * One feed of one reader, as a list with pull-to-refresh and scrolling.
 *
 * Each refresh and load_more has a `request_id`, which its retries share, so that a page whose
 * answer was lost is returned again. If all tries fail, or the call is aborted, that page is
 * requested again first: {@link loadMore} returns it, whatever its limit was, and {@link
 * refresh} stores it for the next `loadMore`. This works for a minute, for which the server
 * stores a page.
 *
 * `Own` is the type of the app's own fields of items: `new Feed<{ price: number }>(client)`.
 */
export class Feed<Own = unknown> {
  /** The client that makes the calls. */
  readonly client: Client;
  readonly #options: FeedOptions;
  readonly #badges = new Set<BadgeWatch>();
  /** Calls without an answer, which the server may have processed. */
  #open: PageCall[] = [];
  /** Recovered pages for {@link loadMore}. */
  readonly #kept: Page<Own>[] = [];

  /** Create one per list: feeds of one reader share only the state on the server. */
  constructor(client: Client, options: FeedOptions = {}) {
    this.client = client;
    this.#options = options;
    bindMethods(this, Feed.prototype);
  }

  /**
   * Returns the best unseen items now. {@link loadMore} returns the rest of the results. Resets
   * the badges.
   */
  async refresh(options: FeedCallOptions = {}): Promise<Page<Own>> {
    await this.#recover(options);
    throwIfAborted(options.signal);
    const page = await this.#page(this.#take('refresh') ?? this.#new('refresh', options), options);
    for (const badge of this.#badges) badge.clear();
    return page;
  }

  /**
   * Returns the next page of the last refresh, or of a new refresh if nothing is left, so call
   * it until `items` is empty and nothing is in `degraded`: an empty page that lacks a part of the
   * feed is not the end. Concurrent calls get different pages.
   */
  async loadMore(options: FeedCallOptions = {}): Promise<Page<Own>> {
    const { signal } = options;
    throwIfAborted(signal);
    const kept = this.#kept.shift();
    if (!kept) return this.#page(this.#take() ?? this.#new('load_more', options), options);
    await Promise.resolve();
    if (!signal?.aborted) return kept;
    this.#kept.unshift(kept);
    throw reasonOf(signal);
  }

  /**
   * Returns what a refresh would find that is newer than the last one, with `new_count`. It
   * changes nothing.
   */
  silent({ limit = this.#options.limit, ...options }: FeedCallOptions = {}): Promise<Page<Own>> {
    return this.client.feed<Own>({ ...this.#ask('refresh', limit), silent: true }, options);
  }

  /**
   * Reports the number of new entries since the last refresh: once at the start, then with each
   * change. Changes are reported within seconds if the server supports streams (GET
   * /v1/stream), otherwise by polling with silent refreshes. In a browser it pauses while the
   * page is hidden. Returns a function that stops it.
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
    return { action, ...(limit !== undefined && { limit }), ...(feed !== undefined && { feed }), ...(why !== undefined && { why }) };
  }

  #new(action: Ask['action'], { limit = this.#options.limit }: FeedCallOptions): PageCall {
    return { ask: { ...this.#ask(action, limit), request_id: newID() }, again: false, until: 0 };
  }

  /** Removes and returns the first unanswered call, of an action or of any. */
  #take(action?: Ask['action']): PageCall | undefined {
    this.#open = this.#open.filter(({ until }) => performance.now() < until);
    const i = this.#open.findIndex(({ ask }) => !action || ask.action === action);
    return i < 0 ? undefined : this.#open.splice(i, 1)[0];
  }

  /** Requests the unanswered pages again, because a refresh skips the rest of the previous list. */
  async #recover(options: FeedCallOptions): Promise<void> {
    throwIfAborted(options.signal);
    for (let call = this.#take('load_more'); call; call = this.#take('load_more')) {
      try {
        const page = await this.#page(call, options);
        if (page.items.length > 0) this.#kept.push(page);
      } catch (error) {
        const open = this.#open.some(({ ask }) => ask.request_id === call?.ask.request_id);
        if (open || options.signal?.aborted) throw error;
      }
    }
  }

  async #page(call: PageCall, { limit: _, ...options }: FeedCallOptions): Promise<Page<Own>> {
    const { signal } = options;
    // Done in the event handler and not after the await, because the caller may call again in the
    // same tick in which it aborts.
    const note = () => {
      const until = call.until || performance.now() + remembered;
      if (performance.now() < until) this.#open.push({ ...call, again: true, until });
    };
    const end = onAbort(signal, note);
    try {
      const page = await this.client.feed<Own>(call.ask, options);
      // The answer arrived together with the abort: the page belongs to the call that reuses the
      // id.
      throwIfAborted(signal);
      return page;
    } catch (error) {
      if (!signal?.aborted && mayBeAnswered(error, call.again)) note();
      throw error;
    } finally {
      end();
    }
  }
}

/**
 * Whether a failed call may have been answered before: a refusal changes nothing, and 401 and
 * 429 are temporary.
 */
function mayBeAnswered(error: unknown, again: boolean): boolean {
  if (!(error instanceof FreshetError) || error.status < 400 || error.status >= 500) return true;
  return again && (error.kind === 'unauthenticated' || error.kind === 'rate_limited');
}
