// The feed page: what an app looks like on the API. It keeps no cursor and no
// time of its own; the server knows what this reader has been given.

import { Refused, age, call, make, short } from '/assets/api.js';
import { learnedChips, learnedOne, learnedText, related } from '/assets/feed/learned.js';
import { listen } from '/assets/feed/stream.js';

const PAGE = 20;
const CHIPS = 10; // of what was learned; the strongest
const LEARNED = 3; // features that speak for or against an item, of those named on its card
const BADGE_EVERY = 10_000; // ms between silent refreshes while the page is looked at
const RECALLED = 3000; // ms until recall has what a stream has told of
const WITH_STREAM = 6; // while a stream tells of posts, only one in so many is made, for items

const $ = (id) => document.getElementById(id);
const state = {
  agent: '', profile: {}, acts: [], // acts: likes and hides since the last refresh
  shown: new Set(), more: false, busy: false,
  mayExplain: true, badge: 0, looks: 0, live: false, // live: a stream tells what is new
  streaming: null, turn: 0, // streaming: ends the stream; turn: a page of an earlier reader must not come in late
};

// --- the API ---------------------------------------------------------------

function who() {
  const headers = { 'X-Agent-ID': state.agent };
  const token = sessionStorage.getItem('token');
  if (token) headers.Authorization = `Bearer ${token}`;
  return headers;
}

async function ask(method, path, body) {
  return (await call(method, path, { body, headers: who() })).data;
}

// A page that was lost on its way is asked for again under the same request
// id, so that its items are not skipped.
async function feed(body) {
  const request = { ...body, limit: PAGE };
  if (!body.silent) request.request_id = crypto.randomUUID();
  try {
    return await ask('POST', '/v1/feed', request);
  } catch (error) {
    if (error instanceof Refused && error.status < 500) throw error;
    await new Promise((r) => setTimeout(r, 800));
    return ask('POST', '/v1/feed', request);
  }
}

// --- pages -----------------------------------------------------------------

async function load(action) {
  if (state.busy || !state.agent) return;
  state.busy = true;
  const turn = state.turn;
  $('refresh').disabled = true;
  try {
    const page = await feed({ action, why: true });
    if (turn !== state.turn) return;
    if (action === 'refresh') {
      $('items').replaceChildren();
      setBadge(0);
      scrollTo({ top: 0 });
    }
    const acts = action === 'refresh' ? state.acts.splice(0) : [];
    const cards = page.items.map(addCard);
    state.more = page.has_more;
    note(page.degraded ? `Served without: ${page.degraded.join(', ')}.` : '');
    if (acts.length) await sayWhatChanged(acts, page.items.map(asItem), cards, turn);
    const empty = $('items').children.length === 0;
    $('end').hidden = state.more;
    $('end').textContent = empty ? 'Nothing new for this reader right now.' : 'That is all for now. New items come with a refresh.';
    explain(cards, turn);
  } catch (error) {
    if (turn === state.turn) fail(error);
  } finally {
    if (turn === state.turn) state.busy = false;
    $('refresh').disabled = false;
  }
  watchEnd();
}

// sayWhatChanged tells after a refresh what became of the likes and hides before it:
// what was learned of them, and which items have something in common with a liked one.
async function sayWhatChanged(acts, items, cards, turn) {
  const before = learnedText(state.profile.learned);
  await loadProfile(turn);
  if (turn !== state.turn) return;
  const count = (type) => acts.filter((a) => a.type === type).length;
  const liked = acts.filter((a) => a.type === 'like').map((a) => a.item);
  let alike = 0;
  items.forEach((item, i) => {
    const common = related(item, liked);
    if (common.length === 0) return;
    alike++;
    const chip = make('span', { className: 'chip liked', textContent: `as liked: ${common.join(', ')}` });
    cards[i].querySelector('.meta').append(chip);
  });
  const after = learnedText(state.profile.learned);
  note([
    `Since the last refresh: ${count('like')} liked, ${count('hide')} hidden.`,
    liked.length ? `${alike} of ${items.length} items share a tag or the author with what was liked.` : '',
    count('hide') ? 'What was hidden stays away.' : '',
    after && after !== before ? `Learned now: ${after}.` : '',
  ].filter(Boolean).join(' '));
}

// asItem gives a post, which stands among the items, what items have under other
// names.
function asItem(doc) {
  if (doc.created_at === undefined || doc.title !== undefined) return doc;
  const [title, ...rest] = (doc.caption ?? '').trim().split('\n');
  return {
    ...doc, title: title || doc.media?.find((m) => m.alt)?.alt || 'Photo', summary: rest.join(' ').trim(),
    update_time: doc.created_at, author_id: doc.author?.name || doc.author?.id,
  };
}

function addCard(doc) {
  const item = asItem(doc);
  if (state.shown.has(item.id)) document.body.dataset.repeated = item.id; // never: the tests look for it
  state.shown.add(item.id);
  const card = $('card').content.firstElementChild.cloneNode(true);
  card.dataset.id = item.id;
  const link = card.querySelector('h2 a');
  link.textContent = item.title;
  if (/^https?:\/\//.test(item.url ?? '')) link.href = item.url;
  link.addEventListener('click', () => report('click', item.id));
  const time = card.querySelector('time');
  time.dateTime = new Date(item.update_time * 1000).toISOString();
  time.textContent = `${age(Date.now() / 1000 - item.update_time)} ago`;
  card.querySelector('.author').textContent = item.author_id ?? '';
  card.querySelector('.tags').append(...(item.tags ?? []).map((tag) => make('span', { className: 'chip', textContent: tag })));
  card.querySelector('.meta').append(...marks(doc.in_feed));
  card.querySelector('.summary').textContent = item.summary ?? '';
  card.querySelector('.why').textContent = (doc.in_feed?.why ?? []).filter((r) => r.type !== 'explore').map((r) => [r.type, r.value].join(' ').trim()).join(', ');
  const like = card.querySelector('.like');
  const liked = () => { like.disabled = true; like.setAttribute('aria-pressed', 'true'); like.textContent = 'Liked'; };
  if (doc.in_feed?.has_liked) liked();
  like.addEventListener('click', async () => {
    like.disabled = true;
    if (await (item.id.startsWith('post:') ? likePost(item.id) : report('like', item.id))) { liked(); state.acts.push({ type: 'like', item }); }
    else like.disabled = false;
  });
  card.querySelector('.hide').addEventListener('click', async () => {
    // At once; it comes back where the server does not take it.
    const next = card.nextElementSibling?.querySelector('a');
    card.hidden = true;
    next?.focus();
    if (!await report('hide', item.id)) {
      card.hidden = false;
      card.querySelector('.hide').focus();
      return;
    }
    card.remove();
    state.acts.push({ type: 'hide', item });
    note('Hidden. This reader will not get it again.');
    watchEnd();
  });
  $('items').append(card);
  card.classList.add('fresh');
  return card;
}

// marks say of an item that its score did not bring it.
function marks(inFeed) {
  const mark = (text, title) => make('span', { className: 'chip mark', textContent: text, title });
  return [
    ...(inFeed?.source === 'explore' ? [mark('exploration', 'Drawn at random, to learn whether readers like it')] : []),
    ...(inFeed?.shown_before ? [mark('shown before', 'There is nothing unseen left for this page')] : []),
  ];
}

const report = (type, id) => send('POST', '/v1/events', { type, id });

// A like of a post counts as the event, too.
const likePost = (id) => send('PUT', `/v1/posts/${id}/like`);

async function send(...call) {
  try {
    await ask(...call);
    return true;
  } catch (error) {
    fail(error);
    return false;
  }
}

// explain asks why the page's items are where they are. Only an admin may, or
// anybody on this machine in the demo; others see the page without it.
async function explain(cards, turn) {
  if (!state.mayExplain || cards.length === 0) return;
  try {
    const x = await ask('POST', '/v1/explain', { agent_id: state.agent, limit: 1 });
    if (turn !== state.turn) return;
    const byID = new Map(x.candidates.map((c) => [c.id, c]));
    for (const card of cards) {
      const c = byID.get(card.dataset.id);
      if (c) card.querySelector('.why').textContent = why(c);
    }
  } catch (error) {
    if (error instanceof Refused && (error.status === 401 || error.status === 403)) state.mayExplain = false;
  }
}

function why(c) {
  const gains = [...(c.relevance?.tags ?? []), ...(c.relevance?.keywords ?? [])]
    .map((g) => `${g.name} +${short(g.score)}${g.in === 'summary' ? ' in the summary' : ''}`);
  const learned = (c.relevance?.learned ?? []).slice(0, LEARNED).map(learnedOne);
  const fits = [...gains, ...(learned.length ? [`learned: ${learned.join(', ')}`] : [])].join(', ') || 'fresh';
  const popularity = c.popularity?.factor > 1 ? ` · popularity ${short(c.popularity.factor)}` : '';
  return `${fits} · decay ${short(c.decay)}${popularity} · rank ${c.rank}`;
}

// --- badge -----------------------------------------------------------------

async function lookForNew() {
  if (document.hidden || state.busy || !state.agent) return;
  const turn = state.turn;
  try {
    const page = await feed({ action: 'refresh', silent: true });
    if (turn === state.turn && !state.busy) setBadge(page.new_count ?? 0);
  } catch { /* the badge can wait */ }
}

// look is a look of the interval. A stream tells of posts sooner.
function look() {
  state.looks++;
  if (!state.live || state.looks % WITH_STREAM === 0) lookForNew();
}

// stream listens while the page is looked at: a browser has few connections to one
// server, for all its tabs.
function stream() {
  state.streaming?.abort();
  state.live = false;
  if (document.hidden || !state.agent) return;
  const ends = new AbortController();
  state.streaming = ends;
  listen({
    headers: who, signal: ends.signal,
    told: () => { lookForNew(); setTimeout(lookForNew, RECALLED); },
    live: (is) => { if (!ends.signal.aborted) state.live = is; },
  });
}

function setBadge(count) {
  state.badge = count;
  $('badge').hidden = count === 0;
  $('badge').textContent = `${count} new`;
  document.title = count ? `(${count}) Freshet` : 'Freshet';
}

// --- reader ----------------------------------------------------------------

async function readAs(agent) {
  state.turn++;
  Object.assign(state, { agent, busy: false, more: false, profile: {}, acts: [], shown: new Set() });
  localStorage.setItem('agent', agent);
  $('agent').value = agent;
  $('items').replaceChildren();
  $('end').hidden = true;
  setBadge(0);
  showProfile();
  stream();
  await Promise.all([loadProfile(state.turn), load('refresh')]);
}

async function loadProfile(turn) {
  try {
    const profile = await ask('GET', `/v1/agents/${encodeURIComponent(state.agent)}/profile`);
    if (turn !== state.turn) return;
    state.profile = profile;
    showProfile();
  } catch { /* a reader without a profile gets what is fresh */ }
}

const termOf = (k) => (typeof k === 'string' ? k : k.term);

function showProfile() {
  const interests = Object.entries(state.profile.interests ?? {}).sort((a, b) => b[1] - a[1]);
  const buttons = interests.map(([tag, weight]) => {
    const b = make('button', { textContent: `${tag} ${short(weight)} ×` });
    b.setAttribute('aria-label', `Remove the interest ${tag}, weight ${short(weight)}`);
    b.addEventListener('click', () => changeInterests((all) => { delete all[tag]; }));
    return b;
  });
  const keywords = (state.profile.keywords ?? []).map((k) => {
    const weight = k.weight ?? 1;
    const b = make('button', { className: 'keyword', textContent: `“${termOf(k)}” ${short(weight)} ×` });
    b.setAttribute('aria-label', `Remove the keyword ${termOf(k)}, weight ${short(weight)}`);
    b.addEventListener('click', () => changeProfile({ keywords: state.profile.keywords.filter((other) => other !== k) }));
    return b;
  });
  const add = make('button', { textContent: '+ interest' });
  add.addEventListener('click', () => {
    $('interest').hidden = !$('interest').hidden;
    $('interest').elements.tag.focus();
  });
  $('interests').replaceChildren(...buttons, ...keywords, add);
  const all = learnedChips(state.profile.learned);
  const learned = all.slice(0, CHIPS);
  if (all.length > CHIPS) learned.push(make('span', { className: 'soft', textContent: `and ${all.length - CHIPS} more` }));
  $('learned').hidden = learned.length === 0;
  $('learned').replaceChildren(make('span', { className: 'soft', textContent: 'Learned' }), ...learned);
}

async function changeInterests(change) {
  const interests = { ...state.profile.interests };
  change(interests);
  await changeProfile({ interests });
}

async function changeProfile(change) {
  // What is not named stays; what is known here of hidden items may be old.
  const { muted_items: _, learned, ...rest } = state.profile;
  const path = `/v1/agents/${encodeURIComponent(state.agent)}/profile`;
  try {
    state.profile = { learned, ...await ask('PUT', path, { ...rest, ...change }) };
    showProfile();
    await load('refresh');
  } catch (error) {
    fail(error);
  }
}

// --- what the reader is told -------------------------------------------------

function note(text) { $('note').textContent = text; $('note').className = ''; }

function fail(error) {
  const anonymous = error instanceof Refused && error.status === 401;
  $('sign-in').hidden = !anonymous;
  $('note').textContent = anonymous ? '' : error.message;
  $('note').className = 'error';
}

// --- gestures ----------------------------------------------------------------

// watchEnd loads the next page while the end of the list is near the screen.
function watchEnd() {
  const near = $('sentinel').getBoundingClientRect().top < innerHeight + 600;
  if (near && state.more && !state.busy) load('load_more');
}

function watchPull() {
  const far = 80; // px from which on letting go refreshes
  let from = null, pulled = 0;
  addEventListener('touchstart', (e) => { from = scrollY === 0 ? e.touches[0].clientY : null; }, { passive: true });
  addEventListener('touchmove', (e) => {
    if (from === null) return;
    pulled = Math.max(0, e.touches[0].clientY - from) / 2;
    $('pull').style.height = `${Math.min(pulled, far + 20)}px`;
    $('pull').classList.toggle('armed', pulled >= far);
  }, { passive: true });
  const end = () => {
    if (pulled >= far) load('refresh');
    from = null; pulled = 0;
    $('pull').style.height = '0';
    $('pull').classList.remove('armed');
  };
  addEventListener('touchend', end);
  addEventListener('touchcancel', end);
}

function start() {
  const known = Array.from({ length: 8 }, (_, i) => `u_${i + 1}`);
  $('agents').replaceChildren(...known.map((value) => make('option', { value })));
  $('agent').addEventListener('change', (e) => { if (e.target.value) readAs(e.target.value.trim()); });
  $('refresh').addEventListener('click', () => load('refresh'));
  $('badge').addEventListener('click', () => load('refresh'));
  $('interest').addEventListener('submit', (e) => {
    e.preventDefault();
    const { tag, weight } = e.target.elements;
    changeInterests((all) => { all[tag.value.trim()] = Number(weight.value); });
    e.target.reset();
    e.target.hidden = true;
  });
  $('sign-in').addEventListener('submit', (e) => {
    e.preventDefault();
    sessionStorage.setItem('token', e.target.elements.token.value.trim());
    e.target.reset();
    e.target.hidden = true;
    readAs(state.agent);
  });
  addEventListener('keydown', (e) => {
    if (e.key === 'r' && !e.ctrlKey && !e.metaKey && !e.target.closest('input')) load('refresh');
  });
  addEventListener('scroll', watchEnd, { passive: true });
  addEventListener('resize', watchEnd);
  addEventListener('visibilitychange', () => { lookForNew(); stream(); });
  watchPull();
  const every = Number(new URLSearchParams(location.search).get('badge')) || BADGE_EVERY;
  setInterval(look, Math.max(200, every));
  readAs(localStorage.getItem('agent') || known[0]);
}

start();
