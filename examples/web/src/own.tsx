import { useState, type ChangeEvent } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { Me, Post } from '@freshet/client';
import type { Session } from './session';

type Removal = NonNullable<Post['in_feed']['removed']>[number];

/** Why nobody else sees a post, or not in a group. */
function removal({ by, reason, circle, held }: Removal) {
  const what = held ? 'Moderators hide this until they have decided' : by === 'admin' ? 'Moderators have removed this' : `This was removed from ${circle ?? 'the thread'}`;
  return reason ? `${what}: ${reason}` : what;
}

function suspension({ suspended_until: until = 0, suspended_for: reason }: Me) {
  const when = `You cannot post until ${new Date(until * 1000).toLocaleString()}`;
  return reason ? `${when}: ${reason}` : when;
}

/** The reader's own image, and a picker for another one. */
function OwnImage({ client, image, changed }: { client: Session['client']; image: string | undefined; changed: () => Promise<unknown> }) {
  const [failure, setFailure] = useState('');
  const upload = ({ currentTarget: { files } }: ChangeEvent<HTMLInputElement>) => {
    if (files?.[0]) client.putAuthorImage(files[0]).then(() => { setFailure(''); return changed(); }, (error: Error) => setFailure(error.message));
  };
  return (
    <p>
      {image && <img id="avatar" src={client.url(image)} alt="" width={48} height={48} style={{ objectFit: 'cover' }} />}{' '}
      <label>Your image <input id="picture" type="file" accept="image/jpeg,image/png,image/gif,image/webp" onChange={upload} /></label>{' '}
      <span role="alert">{failure}</span>
    </p>
  );
}

/** The reader's own posts, with what was hidden or removed and why: only their author still sees these. */
export function OwnPosts({ session: { client, me } }: { session: Session }) {
  const { data: [card, page] = [], error, refetch } = useQuery({
    queryKey: ['own posts'],
    queryFn: ({ signal }) => Promise.all([client.me({ signal }), client.authorPosts(me.id, { signal })]),
    retry: false,
  });
  return (
    <>
      {card?.suspended_until && <p id="suspended">{suspension(card)}</p>}
      <OwnImage client={client} image={card?.image_url} changed={refetch} />
      <ol id="posts">
        {page?.items.map(({ id, caption, in_feed }) => (
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
