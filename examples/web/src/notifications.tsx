import { useEffect, useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Client, Notification } from '@freshet/client';

/** What the actors of each kind did. A newer server may have others, which an older app leaves out. */
const done: Record<string, string> = {
  follow: 'followed you', like: 'liked your post', reply: 'replied to your post', mention: 'mentioned you', invitation: 'invited you', joined: 'joined your group',
};

/** "Ana and 4 others liked your post: First snow" */
function line({ kind, actors: [first], count, post, reply, circle }: Notification) {
  const others = count > 1 ? ` and ${count - 1} other${count > 2 ? 's' : ''}` : '';
  const about = (reply ?? post)?.caption ?? circle?.name;
  return `${first?.name || first?.id || 'Somebody'}${others} ${done[kind]}${about ? `: ${about}` : ''}`;
}

const queryKey = ['notifications'];

/** The number of unread notifications, and the newest ones. Those that are on the screen count as seen. */
export function Notifications({ client }: { client: Client }) {
  const queries = useQueryClient();
  const [open, setOpen] = useState(false);
  const [unread, setUnread] = useState(0);
  // It shares one stream with the badge of the list.
  useEffect(() => client.live({
    unread: (count) => {
      setUnread(count);
      if (count > 0) void queries.invalidateQueries({ queryKey });
    },
  }), [client, queries]);
  const { data, error } = useQuery({ queryKey, queryFn: ({ signal }) => client.notifications({ signal }), enabled: open, retry: false });
  useEffect(() => {
    if (open && data?.unread) client.seeNotifications(data.marker).catch(() => {}); // they stay unread
  }, [client, open, data]);
  return (
    <>
      <button id="bell" aria-expanded={open} onClick={() => setOpen(!open)}>
        Notifications {unread > 0 && <b id="unread">{unread}</b>}
      </button>
      {open && (
        <ul id="notifications">
          {data?.notifications.filter(({ kind }) => done[kind]).map((one) => (
            <li key={`${one.marker} ${one.kind}`} dir="auto">{one.unread ? <b>{line(one)}</b> : line(one)}</li>
          ))}
        </ul>
      )}
      <p role="alert">{error?.message}</p>
    </>
  );
}
