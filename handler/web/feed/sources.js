// Where the lists come from. Each feed answers {items, more, degraded}, and cursor
// where it is paged by one.

import { Refused, newID } from '/assets/api.js';
import { ask, reader } from '/assets/feed/reader.js';
import { suggested } from '/assets/feed/welcome.js';

const PAGE = 20;
const GUEST_PAGE = 60; // the guest feed has one page

// feeds by the name that the address has, in the order of their tabs.
export const feeds = {
  for_you: { name: 'For you', ranked: true, page: (action) => ranked('for_you', action) },
  home: { name: 'Home', ranked: true, page: (action) => ranked('home', action) },
  following: { name: 'Following', page: (action, cursor) => posts('/v1/timeline', cursor) },
  guest: { name: 'Trending', page: async () => ({ ...await ask('GET', `/v1/feed/guest?limit=${GUEST_PAGE}`), more: false }) },
};

const REMEMBERED = 60_000; // ms that the server remembers an answer by its request id
const begun = new WeakMap(); // when a page was first lost
const calls = {}; // by reader and feed: those that were not answered, and pages that came again

// ranked asks first for pages that were lost on their way, whose items would be skipped.
// The server remembers them for a minute.
async function ranked(feed, action) {
  const { lost, kept } = calls[`${reader.agent} ${feed}`] ??= { lost: [], kept: [] };
  const find = (what) => lost.find((request) => !what || request.action === what);
  const made = async (request) => {
    if (lost.includes(request)) lost.splice(lost.indexOf(request), 1);
    try {
      const { has_more: more, ...page } = await twice(request);
      if (page.new_reader) page.suggested = await suggested(); // so that they come together, and nothing moves
      return { ...page, more };
    } catch (error) {
      // A page that fails each time must not keep a refresh from being asked for for ever.
      if (mayBeAnswered(error, request) && performance.now() - begun.get(request) < REMEMBERED) lost.push(request);
      throw error;
    }
  };
  if (action === 'load_more') return kept.shift() ?? made(find() ?? pageOf(feed, action));
  for (let request; (request = find('load_more'));) {
    const page = await made(request);
    if (page.items.length > 0) kept.push({ ...page, more: true });
  }
  const page = await made(find('refresh') ?? pageOf(feed, action));
  return { ...page, more: page.more || kept.length > 0 };
}

const pageOf = (feed, action) => ({ feed, action, why: true, limit: PAGE, request_id: newID() });

// mayBeAnswered says whether the server may have answered a request, now or before.
function mayBeAnswered(error, request) {
  if (!(error instanceof Refused) || error.status >= 500) return begun.set(request, begun.get(request) ?? performance.now());
  return begun.has(request) && [401, 429].includes(error.status);
}

// countNew changes nothing.
export async function countNew(feed) {
  return (await ask('POST', '/v1/feed', { feed, action: 'refresh', silent: true, limit: PAGE })).new_count ?? 0;
}

// twice asks again after a moment, under the same request id.
async function twice(request) {
  try {
    return await ask('POST', '/v1/feed', request);
  } catch (error) {
    if (!mayBeAnswered(error, request)) throw error;
    await new Promise((r) => { setTimeout(r, 800); });
    return ask('POST', '/v1/feed', request);
  }
}

// posts reads a page of a path that is paged by a cursor. A page may be empty while
// there is more.
export async function posts(path, cursor, limit = PAGE, more = {}) {
  for (let tries = 0; ; tries++) {
    const query = new URLSearchParams({ ...more, limit, ...(cursor ? { cursor } : {}) });
    const page = await ask('GET', `${path}?${query}`);
    cursor = page.next_cursor;
    if (page.items.length > 0 || !page.has_more || tries === 3) return { ...page, more: page.has_more, cursor };
  }
}
