import { useQuery } from '@tanstack/react-query';
import type { Post, PostPage } from '@freshet/client';
import type { Session } from './session';

type Removal = NonNullable<Post['in_feed']['removed']>[number];

/** Why nobody else sees a post, or not in a group. */
function removal({ by, reason, circle, held }: Removal) {
  const what = held ? 'Moderators hide this until they have decided' : by === 'admin' ? 'Moderators have removed this' : `This was removed from ${circle ?? 'the thread'}`;
  return reason ? `${what}: ${reason}` : what;
}

/** The reader's own posts, with what was hidden or removed and why: only their author still sees these. */
export function OwnPosts({ session: { client, name } }: { session: Session }) {
  const { data, error } = useQuery({
    queryKey: ['own posts'],
    queryFn: ({ signal }) => client.do<PostPage>({ method: 'GET', path: `/v1/authors/${encodeURIComponent(name)}/posts`, repeatable: true }, { signal }),
    retry: false,
  });
  return (
    <>
      <ol id="posts">
        {data?.items.map(({ id, caption, in_feed }) => (
          <li key={id}>
            <p dir="auto">{caption}</p>
            {in_feed.removed?.map((one) => <small key={`${one.at} ${one.circle}`} className="removed" dir="auto">{removal(one)}</small>)}
          </li>
        ))}
      </ol>
      <p role="alert">{error?.message}</p>
    </>
  );
}
