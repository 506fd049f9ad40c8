// The URL determines the view: /?feed=home, /?post=<id>, /?author=<id>. Going back restores a
// view and its scroll position.

import { newID, ofTab } from '/assets/api.js';

const KEPT = 50; // history entries whose scroll position is stored

const places = new Map(Object.entries(ofTab.json('places') ?? {}));
let at = ''; // key of the current history entry
let show; // async (view, {key, back}): shows it, and returns the element where a new one begins

// cameBack reports whether the page was loaded by going back or forward, or by a reload.
export const cameBack = () => performance.getEntriesByType('navigation')[0]?.type !== 'navigate';

export function view() {
  const query = new URLSearchParams(location.search);
  for (const name of ['post', 'author']) {
    if (query.get(name)) return { name, id: query.get(name) };
  }
  return { name: 'feed', feed: query.get('feed') ?? 'for_you' };
}

function note() {
  places.delete(at);
  places.set(at, scrollY);
}

async function open(back) {
  const before = places.get(at), key = at;
  const begin = await show(view(), { key, back });
  if (key === at) scrollTo({ top: before ?? begin ?? 0, behavior: 'instant' });
}

// go opens a URL of this page as a new history entry.
export function go(href) {
  note();
  at = newID();
  history.pushState({ key: at, inside: true }, '', href);
  return open(false);
}

// reopen shows the view of the URL again, such as for another reader.
export const reopen = () => { places.clear(); return open(false); };

// leave goes back if this page has an earlier history entry, else to href.
export function leave(href) {
  if (history.state?.inside) history.back();
  else go(href);
}

function follow(event) {
  const link = event.target.closest?.('a[href]');
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || link.target) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || to.pathname !== '/' || to.hash) return;
  event.preventDefault();
  go(to.href);
}

export function begin(shows) {
  show = shows;
  history.scrollRestoration = 'manual';
  at = history.state?.key ?? newID();
  if (!history.state?.key) history.replaceState({ key: at }, '');
  if (!cameBack()) places.delete(at);
  addEventListener('popstate', (event) => {
    note();
    at = event.state?.key ?? newID();
    if (!event.state?.key) history.replaceState({ key: at }, '');
    open(true);
  });
  addEventListener('click', follow);
  addEventListener('pagehide', keep);
  addEventListener('visibilitychange', () => { if (document.hidden) keep(); });
  return open(cameBack());
}

function keep() {
  note();
  ofTab.set('places', JSON.stringify(Object.fromEntries([...places].slice(-KEPT))));
}
