import type { Feed } from './feed.js';
import type { Content, Page } from './types.js';
import { newID } from './wait.js';

/** What a query function of TanStack Query is given, as far as it matters here. */
interface PageContext {
  pageParam: number;
  signal: AbortSignal;
  queryKey: readonly unknown[];
  client: { getQueryData(key: readonly unknown[]): unknown };
}

const keys = new WeakMap<object, readonly ['freshet', string]>();

/**
 * A feed for `useInfiniteQuery` of TanStack Query, 5.66 or newer. The feed must be the same
 * one in each render.
 *
 * Each page comes once: what has been read is gone from the server's list, so that reading
 * it again would replace what the reader sees. Focus, reconnects, mounts and invalidation
 * change nothing, and the client alone tries again. There are pages until one is empty.
 * A Refresh button calls `queryClient.resetQueries({ queryKey })`, which begins anew.
 */
export function infiniteQueryOptions<Own>(feed: Feed<Own>) {
  // Random, because an app may keep its queries on the disk, for whoever reads next.
  const queryKey = keys.get(feed) ?? ['freshet', newID()] as const;
  keys.set(feed, queryKey);
  return {
    queryKey,
    queryFn: async ({ pageParam, signal, client }: PageContext): Promise<Page<Own>> => {
      const had = client.getQueryData(queryKey) as { pages: Page<Own>[]; pageParams: number[] } | undefined;
      const page = had?.pages[had.pageParams.indexOf(pageParam)];
      if (page) return page;
      return pageParam === 0 ? feed.refresh({ signal }) : feed.loadMore({ signal });
    },
    initialPageParam: 0,
    getNextPageParam: (last: Page<Own>, _pages: Page<Own>[], param: number) => (last.items.length > 0 ? param + 1 : undefined),
    staleTime: Infinity,
    gcTime: Infinity,
    refetchOnMount: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    retry: false,
  } as const;
}

/**
 * The pages with one entry changed, for lists in any state: `change` are fields, or makes
 * the new entry of the old one. Pages without it stay the same objects.
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
