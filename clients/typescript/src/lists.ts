import { FreshetError } from './errors.js';
import type { Feed } from './feed.js';
import type { Content, Page } from './types.js';
import { newID } from './wait.js';

/** The relevant part of the context of a TanStack Query function. */
interface PageContext {
  pageParam: number;
  signal: AbortSignal;
  queryKey: readonly unknown[];
  client: { getQueryData(key: readonly unknown[]): unknown };
}

const keys = new WeakMap<object, readonly ['freshet', string]>();

/**
 * Options for `useInfiniteQuery` of TanStack Query, 5.66 or newer. Pass the same feed object in
 * each render.
 *
 * Each page is fetched once: the server removes returned items from its list, so refetching
 * would replace what the reader sees. Focus, reconnects, mounts and invalidation do nothing,
 * and only the client retries. There are more pages until one is empty. An empty page that says
 * in `degraded` that it lacks something is not the end: it is an error of the kind `unavailable`.
 * A Refresh button calls `queryClient.resetQueries({ queryKey })`, which starts over.
 */
export function infiniteQueryOptions<Own>(feed: Feed<Own>) {
  // Random, because an app may persist its queries, and another reader may use them later.
  const queryKey = keys.get(feed) ?? ['freshet', newID()] as const;
  keys.set(feed, queryKey);
  return {
    queryKey,
    queryFn: async ({ pageParam, signal, client }: PageContext): Promise<Page<Own>> => {
      const had = client.getQueryData(queryKey) as { pages: Page<Own>[]; pageParams: number[] } | undefined;
      const page = had?.pages[had.pageParams.indexOf(pageParam)];
      if (page) return page;
      return whole(await (pageParam === 0 ? feed.refresh({ signal }) : feed.loadMore({ signal })));
    },
    initialPageParam: 0,
    getNextPageParam: (last: Page<Own>, _pages: Page<Own>[], param: number) => (last.items.length > 0 ? param + 1 : undefined),
    structuralSharing: withChanges,
    staleTime: Infinity,
    gcTime: Infinity,
    refetchOnMount: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    retry: false,
  } as const;
}

/**
 * Returns the pages to store. TanStack Query adds a fetched page to the pages from when its fetch
 * began, without what the app has changed in them since, such as a like.
 */
function withChanges(now: unknown, fetched: unknown): unknown {
  const [stored, added] = [now, fetched] as ({ pages: unknown[] } | undefined)[];
  if (!stored || added?.pages.length !== stored.pages.length + 1) return fetched;
  return { ...added, pages: [...stored.pages, ...added.pages.slice(-1)] };
}

/** Returns the page, unless it is empty because parts of the feed are unavailable. */
function whole<Own>(page: Page<Own>): Page<Own> {
  if (page.items.length > 0 || !page.degraded) return page;
  throw new FreshetError('unavailable', `there may be more, but it is unavailable: ${page.degraded.join(', ')}`);
}

/**
 * Returns the pages with one entry changed, for lists in any state: `change` contains fields,
 * or is a function from the old entry to the new one. Other pages stay the same objects.
 */
export function updateEntry<P extends { items: Content[] }>(
  pages: readonly P[], id: string, change: Partial<P['items'][number]> | ((entry: P['items'][number]) => P['items'][number]),
): P[] {
  return pages.map((page) => {
    if (!page.items.some((entry) => entry.id === id)) return page;
    const changed = (entry: P['items'][number]) => (typeof change === 'function' ? change(entry) : { ...entry, ...change });
    return { ...page, items: page.items.map((entry) => (entry.id === id ? changed(entry) : entry)) };
  });
}
