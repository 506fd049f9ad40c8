import { BadgeWatch, type Badge, type BadgeOptions } from './badge.js';
import type { Ask, Client } from './client.js';
import { FreshetError } from './errors.js';
import type { CallOptions } from './options.js';
import type { FeedName, Page } from './types.js';
import { newID, reasonOf, throwIfAborted } from './wait.js';

/** What holds for all pages of a {@link Feed}. */
export interface FeedOptions {
  /** Which of the reader's feeds; `for_you` where it is left out. */
  feed?: FeedName | undefined;
  /** Items of a page, 1 to 100; the server's 20 where it is left out. */
  limit?: number | undefined;
  /** Says of each entry in `in_feed.why` why it is there. */
  why?: boolean | undefined;
}

/** How a page differs. */
export interface FeedCallOptions extends CallOptions {
  /** In place of {@link FeedOptions.limit}. */
  limit?: number | undefined;
}

/** A call of a page. */
interface PageCall {
  ask: Ask & { request_id: string };
  /** It was made before, and may have been answered then. */
  again: boolean;
  /** Until when it is asked for again; 0: it has not failed yet. */
  until: number;
}

/**
 * How long a page that was lost is asked for again, in milliseconds: the server remembers
 * its answer for as long, and one that fails each time must not hold up a refresh for good.
 */
const remembered = 60_000;

/**
 * One feed of one reader, as a list that is pulled down and scrolled.
 *
 * Each refresh and load_more has a `request_id`, which its retries keep, so that a page
 * whose answer was lost comes again. Where all tries fail, or the call is aborted, the page
 * is asked for again first: {@link loadMore} returns it, whatever its limit was, and
 * {@link refresh} keeps it for the next `loadMore`. This holds for a minute, for which the
 * server remembers a page.
 *
 * `Own` are the fields of items that are the app's own: `new Feed<{ price: number }>(client)`.
 */
export class Feed<Own = unknown> {
  /** What the feed calls with. */
  readonly client: Client;
  readonly #options: FeedOptions;
  readonly #badges = new Set<BadgeWatch>();
  /** Calls that may have been answered, though no answer came. */
  #open: PageCall[] = [];
  /** Pages that came again for {@link loadMore}. */
  readonly #kept: Page<Own>[] = [];

  /** One for each list: feeds of one reader share nothing but what the server keeps. */
  constructor(client: Client, options: FeedOptions = {}) {
    this.client = client;
    this.#options = options;
  }

  /** The best unseen items now. The rest of what was found waits for {@link loadMore}. Badges begin anew. */
  async refresh(options: FeedCallOptions = {}): Promise<Page<Own>> {
    await this.#recover(options);
    throwIfAborted(options.signal);
    const page = await this.#page(this.#take('refresh') ?? this.#new('refresh', options), options);
    for (const badge of this.#badges) badge.clear();
    return page;
  }

  /**
   * The next page of the last refresh; a refresh where nothing is left of it, so ask on
   * until `items` is empty. Calls at the same time get different pages.
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

  /** What a refresh would find that is newer than the last one, with `new_count`. It changes nothing. */
  silent({ limit = this.#options.limit, ...options }: FeedCallOptions = {}): Promise<Page<Own>> {
    return this.client.feed<Own>({ ...this.#ask('refresh', limit), silent: true }, options);
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

  #new(action: Ask['action'], { limit = this.#options.limit }: FeedCallOptions): PageCall {
    return { ask: { ...this.#ask(action, limit), request_id: newID() }, again: false, until: 0 };
  }

  /** The first call that was not answered: of an action, or of any. */
  #take(action?: Ask['action']): PageCall | undefined {
    this.#open = this.#open.filter(({ until }) => performance.now() < until);
    const i = this.#open.findIndex(({ ask }) => !action || ask.action === action);
    return i < 0 ? undefined : this.#open.splice(i, 1)[0];
  }

  /** Asks again for the pages that were not answered: a refresh skips what is left of the list before. */
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
    // Noted by the event and not after the await, because the caller may ask again in the
    // very tick in which it aborts.
    const note = () => {
      const until = call.until || performance.now() + remembered;
      if (performance.now() < until) this.#open.push({ ...call, again: true, until });
    };
    signal?.addEventListener('abort', note, { once: true });
    try {
      const page = await this.client.feed<Own>(call.ask, options);
      // The answer came with the abort: the page belongs to the call that took the id on.
      throwIfAborted(signal);
      return page;
    } catch (error) {
      if (!signal?.aborted && mayBeAnswered(error, call.again)) note();
      throw error;
    } finally {
      signal?.removeEventListener('abort', note);
    }
  }
}

/** Says whether a call that failed may have been answered before: a refusal changes nothing, and 401 and 429 pass. */
function mayBeAnswered(error: unknown, again: boolean): boolean {
  if (!(error instanceof FreshetError) || error.status < 400 || error.status >= 500) return true;
  return again && (error.kind === 'unauthenticated' || error.kind === 'rate_limited');
}
