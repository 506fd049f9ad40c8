// Where the lists come from. Each feed answers {items, more, degraded}, and cursor
// where it is paged by one.

import { Refused } from '/assets/api.js';
import { ask } from '/assets/feed/reader.js';

const PAGE = 20;
const GUEST_PAGE = 60; // the guest feed has one page

// feeds by the name that the address has, in the order of their tabs.
export const feeds = {
  for_you: { name: 'For you', ranked: true, page: (action) => ranked('for_you', action) },
  home: { name: 'Home', ranked: true, page: (action) => ranked('home', action) },
  following: { name: 'Following', page: (action, cursor) => posts('/v1/timeline', cursor) },
  guest: { name: 'Trending', page: async () => ({ ...await ask('GET', `/v1/feed/guest?limit=${GUEST_PAGE}`), more: false }) },
};

async function ranked(feed, action) {
  const { has_more: more, ...page } = await once({ feed, action, why: true });
  return { ...page, more };
}

// countNew changes nothing.
export async function countNew(feed) {
  return (await once({ feed, action: 'refresh', silent: true })).new_count ?? 0;
}

// A page that was lost on its way is asked for again under the same request id, so
// that its items are not skipped.
async function once(body) {
  const request = { ...body, limit: PAGE };
  if (!body.silent) request.request_id = crypto.randomUUID();
  try {
    return await ask('POST', '/v1/feed', request);
  } catch (error) {
    if (error instanceof Refused && error.status < 500) throw error;
    await new Promise((r) => { setTimeout(r, 800); });
    return ask('POST', '/v1/feed', request);
  }
}

// posts reads a page of a path that is paged by a cursor. A page may be empty while
// there is more.
export async function posts(path, cursor, limit = PAGE) {
  for (let tries = 0; ; tries++) {
    const query = new URLSearchParams({ limit, ...(cursor ? { cursor } : {}) });
    const page = await ask('GET', `${path}?${query}`);
    cursor = page.next_cursor;
    if (page.items.length > 0 || !page.has_more || tries === 3) return { ...page, more: page.has_more, cursor };
  }
}
