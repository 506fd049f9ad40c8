import { useEffect, useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Client, Notification, NotificationPage } from '@freshet/client';

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

/** Reads the first page again whenever the stream says that something is new, or was seen on another device. */
function useNotifications(client: Client) {
  const queries = useQueryClient();
  useEffect(() => {
    const stop = new AbortController();
    const listen = async () => {
      for await (const { unread } of client.stream({ notifications: true, signal: stop.signal })) {
        if (unread !== undefined) void queries.invalidateQueries({ queryKey });
      }
    };
    listen().catch(() => {}); // without a stream, they are read again when the page is focused
    return () => stop.abort();
  }, [client, queries]);
  return useQuery({ queryKey, queryFn: ({ signal }) => client.notifications({ signal }), retry: false });
}

/** The number of unread notifications, and the newest ones. Those that are on the screen count as seen. */
export function Notifications({ client }: { client: Client }) {
  const queries = useQueryClient();
  const [open, setOpen] = useState(false);
  const { data, error } = useNotifications(client);
  useEffect(() => {
    if (!open || !data?.unread) return;
    client.seeNotifications(data.marker).then(
      () => queries.setQueryData<NotificationPage>(queryKey, (page) => page && { ...page, unread: 0 }),
      () => {}, // they stay unread
    );
  }, [client, queries, open, data]);
  return (
    <>
      <button id="bell" aria-expanded={open} onClick={() => setOpen(!open)}>
        Notifications {Boolean(data?.unread) && <b id="unread">{data?.unread}</b>}
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
