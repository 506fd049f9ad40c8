import { useEffect, useRef, useState } from 'react';
import { useInfiniteQuery, useMutation, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { FreshetError, infiniteQueryOptions, isPost, updateEntry, type Badge, type Feed, type Page, type Post } from '@freshet/client';
import { Composer } from './composer';
import { Report } from './report';
import type { Session } from './session';

/** The message to show for an error: none if a newer call for the same thing replaces it. */
const sentence = (error: Error | null) => (!error || error instanceof FreshetError && error.kind === 'superseded' ? '' : error.message);

/** Changes the displayed pages without a request. */
function usePages(feed: Feed) {
  const queries = useQueryClient();
  const { queryKey } = infiniteQueryOptions(feed);
  return (change: (pages: Page[]) => Page[]) => queries.setQueryData<InfiniteData<Page, number>>(queryKey, (old) => old && { ...old, pages: change(old.pages) });
}

/** Shows a like at once, then the server's count. */
function useLike(session: Session, feed: Feed) {
  const change = usePages(feed);
  const put = (id: string, likes: number, liked: boolean) => change((pages) => updateEntry(pages, id, (entry) => (
    isPost(entry) ? { ...entry, likes, in_feed: { ...entry.in_feed, has_liked: liked } } : entry)));
  return useMutation({
    mutationFn: ({ id, in_feed }: Post) => (in_feed.has_liked ? session.client.unlikePost(id) : session.client.likePost(id)),
    onMutate: ({ id, likes, in_feed }) => put(id, likes + (in_feed.has_liked ? -1 : 1), !in_feed.has_liked),
    onSuccess: ({ likes, has_liked }, { id }) => put(id, likes, has_liked),
    onError: (error, { id, likes, in_feed }) => { if (sentence(error)) put(id, likes, in_feed.has_liked); },
  });
}

function useBadge(feed: Feed) {
  const [badge, setBadge] = useState<Badge>();
  useEffect(() => feed.badge(setBadge), [feed]);
  return badge?.count ?? 0;
}

/** Loads more when the end of the list is near. */
function useEnd(more: () => void) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => { if (entry?.isIntersecting) more(); }, { rootMargin: '200px' });
    if (end.current) observer.observe(end.current);
    return () => observer.disconnect();
  });
  return end;
}

/** The pages of a feed: home, or that of a tag. */
export function List({ session, feed, onTag }: { session: Session; feed: Feed; onTag: (tag: string) => void }) {
  const queries = useQueryClient();
  const options = infiniteQueryOptions(feed);
  const { data, error, fetchNextPage, hasNextPage, isFetching, isFetchNextPageError } = useInfiniteQuery(options);
  const change = usePages(feed);
  const like = useLike(session, feed);
  const count = useBadge(feed);
  // After a failure only the reader retries; otherwise it would be requested endlessly.
  const end = useEnd(() => { if (hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage(); });
  const entries = data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <>
      <Composer client={session.client} onPost={(post) => change(([first, ...rest]) => (first ? [{ ...first, items: [post, ...first.items] }, ...rest] : []))} />
      <button id="refresh" disabled={isFetching} onClick={() => void queries.resetQueries({ queryKey: options.queryKey })}>
        Refresh {count > 0 && <b id="badge">{count} new</b>}
      </button>
      <ol>
        {entries.map((entry) => (
          <li key={entry.id} data-id={entry.id}>
            <p dir="auto">{isPost(entry) ? entry.caption : entry.title}</p>
            {isPost(entry) && <small><bdi>{entry.author.name || entry.author.id}</bdi> </small>}
            {isPost(entry) && <button className="like" aria-pressed={entry.in_feed.has_liked} onClick={() => like.mutate(entry)}>{entry.likes} likes</button>}
            {entry.tags?.map((tag) => <button key={tag} className="tag" onClick={() => onTag(tag)}>#{tag}</button>)}
            {!(isPost(entry) && entry.author.id === session.me.id) && <Report client={session.client} kind={isPost(entry) ? 'post' : 'item'} id={entry.id} />}
          </li>
        ))}
      </ol>
      <p role="alert">{sentence(error) || sentence(like.error)}</p>
      {error && !isFetching && <button id="again" onClick={() => void (data ? fetchNextPage() : queries.resetQueries({ queryKey: options.queryKey }))}>Try again</button>}
      <div ref={end}>{isFetching ? 'Loading …' : !hasNextPage && !error && 'There is nothing more.'}</div>
    </>
  );
}
