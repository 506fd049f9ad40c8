// The badge: the number of new entries in a feed since it was read. A stream reports posts within
// seconds; periodic checks also count items.

import { countNew, feeds } from '/assets/feed/sources.js';
import { headers, reader } from '/assets/feed/reader.js';
import { listen } from '/assets/feed/stream.js';

const BADGE_EVERY = 10_000; // ms between two checks while the page is visible
const RECALLED = [0, 3000, 10_000]; // delays in ms until recall may have a post that the stream reported
const WITH_STREAM = 6; // while a stream is open, only every n-th check is made
const MOST = 99; // largest count shown

const $ = (id) => document.getElementById(id);
const counts = {};
let current; // () => {feed, busy, head}: the current feed, and the newest known post of the timeline
let streaming, live = false, looks = 0;
let heard = ''; // the id of the last event, from any window's stream
let tell = () => {}; // notifies the reader's other windows

export function clearNews(feed) {
  if (feed) tell({ read: feed });
  cleared(feed);
}

function cleared(feed) {
  for (const name of feed ? [feed] : Object.keys(counts)) counts[name] = 0;
  if (!feed || feed === 'following') heard = '';
  showNews();
}

// showNews updates the badge of the current feed, and the count on its tab.
export function showNews() {
  const { feed, reading } = current();
  const count = (reading && counts[feed]) || 0;
  const text = count > MOST ? `${MOST}+ new` : `${count} new`;
  $('badge').hidden = count === 0;
  if ($('badge').textContent !== text) $('badge').textContent = text;
  if (reading) document.title = count ? `(${count}) Freshet` : 'Freshet';
  const waiting = counts.following || 0;
  const mark = document.querySelector('#tab-following .count');
  mark.textContent = waiting > MOST ? `${MOST}+` : waiting || '';
  mark.hidden = !waiting;
  mark.setAttribute('aria-label', `${waiting} new`);
}

async function look() {
  const { feed, busy } = current();
  if (document.hidden || busy || !reader.agent || !feeds[feed]?.ranked) return;
  const turn = reader.turn;
  try {
    const count = await countNew(feed);
    if (turn !== reader.turn || current().busy || current().feed !== feed) return;
    counts[feed] = count;
    showNews();
  } catch { /* the badge can wait */ }
}

// told handles an event: count new posts, up to the one with the id.
function told(id, count) {
  heard = id;
  if (id !== current().head) counts.following = (counts.following || 0) + count;
  showNews();
  for (const wait of RECALLED) setTimeout(look, wait);
}

// stream listens while the page is visible: a browser limits the connections to one server over
// all tabs.
export function stream() {
  streaming?.abort();
  live = false;
  if (document.hidden || !reader.agent) return;
  const ends = new AbortController();
  streaming = ends;
  const { signal } = ends, windows = new BroadcastChannel(`news of ${reader.agent}`);
  signal.addEventListener('abort', () => windows.close());
  windows.onmessage = ({ data: { read, id, count } }) => (read ? cleared(read) : told(id, count));
  tell = (message) => { if (!signal.aborted) windows.postMessage(message); };
  listen({
    name: windows.name, headers, signal, since: () => heard || current().head,
    told: (id, count) => { told(id, count); tell({ id, count }); },
    live: (is) => { if (!signal.aborted) live = is; },
  });
}

// beginNews takes a function that returns what is displayed.
export function beginNews(shown) {
  current = shown;
  addEventListener('visibilitychange', () => { look(); stream(); });
  addEventListener('pagehide', () => streaming?.abort());
  addEventListener('pageshow', (event) => { if (event.persisted) stream(); });
  const every = Number(new URLSearchParams(location.search).get('badge')) || BADGE_EVERY;
  setInterval(() => {
    looks++;
    if (!live || looks % WITH_STREAM === 0) look();
  }, Math.max(200, every));
}
