// The sources of the lists. Each feed returns {items, more, degraded}, and cursor if it is paged
// by one.

import { Refused, newID } from '/assets/api.js';
import { ask, reader } from '/assets/feed/reader.js';
import { suggested } from '/assets/feed/welcome.js';

const PAGE = 20;
const GUEST_PAGE = 60; // the guest feed has one page

// The feeds by their name in the URL, in the order of the tabs.
export const feeds = {
  for_you: { name: 'For you', ranked: true, page: (action) => ranked('for_you', action) },
  home: { name: 'Home', ranked: true, page: (action) => ranked('home', action) },
  following: { name: 'Following', page: (action, cursor) => posts('/v1/timeline', cursor) },
  guest: { name: 'Trending', page: async () => ({ ...await ask('GET', `/v1/feed/guest?limit=${GUEST_PAGE}`), more: false }) },
};

const REMEMBERED = 60_000; // ms for which the server stores an answer by its request id
const begun = new WeakMap(); // when a page was lost for the first time
const calls = {}; // by reader and feed: lost requests, and recovered pages

// ranked first requests lost pages again, because their items would be skipped. The server stores
// them for a minute.
async function ranked(feed, action) {
  const { lost, kept } = calls[`${reader.agent} ${feed}`] ??= { lost: [], kept: [] };
  const find = (what) => lost.find((request) => !what || request.action === what);
  const made = async (request) => {
    if (lost.includes(request)) lost.splice(lost.indexOf(request), 1);
    try {
      const { has_more: more, ...page } = await twice(request);
      if (page.new_reader) page.suggested = await suggested(); // loaded together, so that there is no layout shift
      return { ...page, more };
    } catch (error) {
      // A page that always fails must not block refreshes for ever.
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

// mayBeAnswered reports whether the server may have answered a request, now or before.
function mayBeAnswered(error, request) {
  if (!(error instanceof Refused) || error.status >= 500) return begun.set(request, begun.get(request) ?? performance.now());
  return begun.has(request) && [401, 429].includes(error.status);
}

// countNew returns the number of new entries, without changing anything.
export async function countNew(feed) {
  return (await ask('POST', '/v1/feed', { feed, action: 'refresh', silent: true, limit: PAGE })).new_count ?? 0;
}

// twice retries once after a moment, with the same request id.
async function twice(request) {
  try {
    return await ask('POST', '/v1/feed', request);
  } catch (error) {
    if (!mayBeAnswered(error, request)) throw error;
    await new Promise((r) => { setTimeout(r, 800); });
    return ask('POST', '/v1/feed', request);
  }
}

// posts reads a page of a path with cursors. A page may be empty although there are more.
export async function posts(path, cursor, limit = PAGE, more = {}) {
  for (let tries = 0; ; tries++) {
    const query = new URLSearchParams({ ...more, limit, ...(cursor ? { cursor } : {}) });
    const page = await ask('GET', `${path}?${query}`);
    cursor = page.next_cursor;
    if (page.items.length > 0 || !page.has_more || tries === 3) return { ...page, more: page.has_more, cursor };
  }
}
