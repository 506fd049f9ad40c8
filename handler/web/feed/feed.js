// The feed page: an example of an app that uses the API. Ranked feeds store no cursor or time in
// the page; the server knows what this reader has been shown.

import { Refused, make, ofTab } from '/assets/api.js';
import { acted, forgetActs, whatChanged } from '/assets/feed/acts.js';
import { authorView } from '/assets/feed/author.js';
import { makeCard } from '/assets/feed/card.js';
import { beginComposer, compose } from '/assets/feed/composer.js';
import { avatar } from '/assets/feed/images.js';
import { beginInterests, clearProfile, loadProfile } from '/assets/feed/interests.js';
import { beginKeys, watchPull } from '/assets/feed/keys.js';
import { List } from '/assets/feed/list.js';
import { beginNews, clearNews, showNews, stream } from '/assets/feed/news.js';
import { postView } from '/assets/feed/post.js';
import { agentOf, ask, become, byToken, reader, server } from '/assets/feed/reader.js';
import { feeds } from '/assets/feed/sources.js';
import { begin, cameBack, go, leave, reopen, view } from '/assets/feed/views.js';
import { beginWelcome, welcome } from '/assets/feed/welcome.js';
import { detail, score } from '/assets/feed/why.js';

const NOTED = 15_000; // ms
const KEPT = 10; // views of posts and authors kept for going back

const $ = (id) => document.getElementById(id);
const state = {
  feed: '', lists: {}, // lists of the feeds, by name
  shown: new Set(), // ids shown in ranked feeds
  others: new Map(), other: null, // views of posts and authors, by history entry
  mayExplain: true,
  told: '', // message shown with the next view
  stuck: false, // a page failed to load
  left: null, // the focused element when the feeds were left
};
const list = () => state.lists[state.feed];

// --- feeds -------------------------------------------------------------------

function card(doc) {
  const element = makeCard(doc, { fail, liked: (item) => acted('like', item), hidden: (item) => { acted('hide', item); note('Hidden. This reader will not get it again.'); } });
  element.querySelector('.score').textContent = doc.score ?? detail(doc);
  return element;
}

// once records an item that a feed without repeats shows twice.
function once(doc) {
  if (state.shown.has(doc.id) && !doc.in_feed?.shown_before) document.body.dataset.repeated = doc.id; // never happens; the tests check it
  state.shown.add(doc.id);
}

async function load(action) {
  const of = list(), { turn } = reader, had = document.activeElement;
  if (!of || of.busy) return;
  let first = $('panel');
  $('refresh').ariaDisabled = 'true'; // a disabled button would lose the focus
  progress('Loading …');
  try {
    const page = await of.load(action);
    if (!page) return;
    progress(page.items.length === 1 ? '1 entry loaded.' : `${page.items.length} entries loaded.`);
    stuck(false);
    if (action === 'load_more') first = page.cards[0]?.querySelector('.reason') ?? first;
    if (feeds[of.name].ranked) page.items.forEach(once);
    if (feeds[of.name].ranked && action === 'refresh') welcome(page.suggested);
    if (action === 'refresh' && of === list()) scrollTo({ top: 0 });
    if (action === 'refresh') clearNews(of.name);
    note(page.degraded ? `Served without: ${page.degraded.join(', ')}.` : '');
    if (of.name === 'for_you') await told(action, page, turn);
    if (of.name === 'following' && action === 'refresh') stream();
  } catch (error) {
    progress('');
    if (turn === reader.turn) fail(error);
    if (of === list()) stuck(true);
  } finally {
    if (of === list()) $('refresh').ariaDisabled = 'false';
  }
  keepFocus(had, first);
  sayEnd();
  watchEnd();
}

// told reports the effects of the reader's acts on the page, and its scores.
async function told(action, page, turn) {
  explain(page, turn);
  const changes = action === 'refresh' ? await whatChanged(page.items, page.cards) : '';
  if (changes && turn === reader.turn) note(changes);
}

// explain requests the reasons for the page's items. Only an admin may, or anyone on this machine
// in the demo; others see the page without them.
async function explain({ items, cards }, turn) {
  if (!state.mayExplain || cards.length === 0) return;
  try {
    const x = await ask('POST', '/v1/explain', { agent_id: reader.agent, limit: 1 });
    if (turn !== reader.turn) return;
    const byID = new Map(x.candidates.map((c) => [c.id, c]));
    items.forEach((doc, i) => {
      const c = byID.get(doc.id);
      if (c) cards[i].querySelector('.score').textContent = doc.score = score(c);
    });
  } catch (error) {
    if (error instanceof Refused && (error.status === 401 || error.status === 403)) state.mayExplain = false;
  }
}

function sayEnd() {
  const of = list(), ends = view().name === 'feed' && of?.loaded && !of.more;
  $('end').hidden = !ends;
  if (!ends) return;
  const empty = of.docs.length === 0;
  if (of.lacks) $('end').textContent = 'Parts of the feed are unavailable: there may be more. Refresh to try again.';
  else if (of.name === 'following') $('end').textContent = empty ? 'Nothing here yet. Follow somebody: names lead to their pages.' : 'You are all caught up.';
  else if (of.name === 'guest') $('end').textContent = empty ? 'There is nothing to read yet.' : 'That is all for now.';
  else $('end').textContent = empty ? 'Nothing new for this reader right now.' : 'That is all for now. New items come with a refresh.';
}

async function showFeed(name, back) {
  const feed = !reader.agent ? 'guest' : name in feeds && name !== 'guest' ? name : 'for_you';
  state.feed = feed;
  document.body.classList.toggle('as-guest', feed === 'guest');
  $('tab-guest').hidden = feed !== 'guest';
  $('guest').hidden = feed !== 'guest' || byToken;
  $('sign-in').hidden = feed !== 'guest' || !byToken;
  for (const id of ['tabs', 'compose']) $(id).hidden = feed === 'guest';
  $('profile').hidden = feed !== 'for_you';
  for (const tab of $('tabs').children) {
    const selected = tab.id === `tab-${feed}`;
    tab.setAttribute('aria-selected', selected);
    tab.tabIndex = selected ? 0 : -1;
  }
  $('panel').setAttribute('aria-labelledby', `tab-${feed}`);
  const source = feeds[feed];
  const of = state.lists[feed] ??= new List(feed, source.page, card);
  if ($('panel').firstChild !== of.element) $('panel').replaceChildren(of.element);
  of.element.setAttribute('aria-label', source.name);
  $('refresh').ariaDisabled = String(of.busy);
  showNews();
  if (!of.loaded && !(back && cameBack() && of.restore())) await load('refresh');
  sayEnd();
  watchEnd();
  return of.scroll;
}

// --- posts and authors -------------------------------------------------------

async function showOther({ name, id }, key) {
  const { turn } = reader;
  $('other').replaceChildren(make('p', { className: 'soft', textContent: 'One moment …' }));
  $('other').ariaBusy = 'true';
  progress('Loading …');
  try {
    if (!state.others.has(key)) state.others.set(key, await openOther(name, id));
  } catch (error) {
    if (error.status !== 404) { progress(''); fail(error); stuck(true); $('other').replaceChildren(); $('other').ariaBusy = 'false'; return; }
    state.others.set(key, { element: make('p', { textContent: 'There is nothing here, or nothing that you may see. ' }, make('a', { href: '/', textContent: 'To the feed' })) });
  }
  for (const old of [...state.others.keys()].slice(0, -KEPT)) state.others.delete(old);
  if (turn !== reader.turn || history.state?.key !== key) return;
  state.other = state.others.get(key);
  $('other').ariaBusy = 'false';
  progress('Loaded.');
  $('other').replaceChildren(state.other.element);
  $('other').querySelector('h2')?.focus({ preventScroll: true });
  document.title = `${$('other').querySelector('h2')?.textContent ?? 'Not found'} · Freshet`;
}

async function openOther(name, id) {
  if (name === 'post') return { element: await postView(id, { fail, note, gone: () => { forgetOthers(); state.told = 'Deleted.'; leave('/'); } }) };
  return authorView(id, { fail, followed: () => forget('following'), blocked });
}

// blocked reloads the author: a block changes the visible posts in every view.
async function blocked() {
  forgetOthers();
  Object.keys(state.lists).forEach(forget);
  await reopen();
}

// forgetOthers makes posts and authors reload when the reader goes back or forward to them.
const forgetOthers = () => { state.others = new Map(); };

async function show(what, { key, back }) {
  const isFeed = what.name === 'feed', had = document.activeElement;
  if (!$('feed-view').hidden && list()) {
    list().scroll = scrollY;
    state.left = document.activeElement;
  }
  state.other = null;
  note(state.told);
  state.told = '';
  stuck(false);
  $('feed-view').hidden = !isFeed;
  $('other').hidden = isFeed;
  $('end').hidden = true;
  if (isFeed) {
    const begins = await showFeed(what.feed, back);
    if (back && $('panel').contains(state.left)) state.left.focus({ preventScroll: true });
    keepFocus(had, $('panel'));
    return begins;
  }
  await showOther(what, key);
  keepFocus(had, $('main'));
  return 0;
}

// keepFocus gives the focus back to the element that had it, or, if that is gone, to another one:
// otherwise the keyboard would begin at the top of the page again.
function keepFocus(had, otherwise) {
  if (had === document.body || ![had, document.body].includes(document.activeElement)) return;
  (had.getClientRects().length > 0 ? had : otherwise).focus({ preventScroll: true });
}

// --- reader ------------------------------------------------------------------

async function readAs(agent) {
  Object.values(state.lists).forEach((l) => ofTab.remove(l.key));
  become(agent);
  Object.assign(state, { lists: {}, shown: new Set(), others: new Map(), other: null });
  forgetActs();
  clearProfile();
  welcome();
  showReader();
  clearNews();
  stream();
  await Promise.all([agent && loadProfile(), reopen()]);
}

async function signIn(form) {
  const token = form.elements.token.value.trim();
  const agent = byToken ? await agentOf(token) : reader.agent;
  ofTab.set('token', token);
  form.reset();
  form.hidden = true;
  await readAs(agent);
}

function showReader() {
  const { agent } = reader;
  $('agent').value = agent;
  $('sign-out').hidden = !byToken || !agent;
  $('me').hidden = !agent;
  $('me').href = `/?author=${encodeURIComponent(agent)}`;
  $('me').replaceChildren(...(agent ? [avatar(agent), make('span', { className: 'unseen', textContent: 'Your profile' })] : []));
}

// --- messages to the reader ----------------------------------------------------

// note shows a message for a while; an error stays until the reader's next action.
// progress tells screen readers what is loading.
function progress(text) { $('progress').textContent = text; }

function note(text) {
  $('note').textContent = text;
  $('note').className = '';
  clearTimeout(state.silence);
  if (text) state.silence = setTimeout(() => { $('note').textContent = ''; }, NOTED);
}

function fail(error) {
  clearTimeout(state.silence);
  const anonymous = error instanceof Refused && error.status === 401;
  $('sign-in').hidden = !anonymous && !(byToken && !reader.agent);
  $('note').textContent = anonymous ? '' : error.message;
  $('note').className = 'error';
}

// stuck reports that a page failed to load. The next try waits for the reader, or for the
// network: the end of the list stays near the screen and would trigger endless requests.
function stuck(is) {
  state.stuck = is;
  $('again').hidden = !is;
}

function again() {
  if (!state.stuck) return;
  stuck(false);
  if (view().name !== 'feed' && !state.other) show(view(), { key: history.state?.key, back: false });
  else if (view().name === 'feed' && !list()?.loaded) load('refresh');
  else watchEnd();
}

// watchEnd loads the next page when the end of the list is near the screen.
async function watchEnd() {
  const near = $('sentinel').getBoundingClientRect().top < innerHeight + 600;
  if (!near || state.stuck) return;
  if (view().name === 'feed') {
    if (list()?.more && !list().busy) load('load_more');
  } else if (state.other?.grow) {
    const { grow } = state.other, before = document.body.scrollHeight;
    if (await grow().catch((error) => { fail(error); stuck(true); }) && document.body.scrollHeight > before) watchEnd();
  }
}

async function start() {
  const known = 'demo' in server ? Array.from({ length: 8 }, (_, i) => `u_${i + 1}`) : [];
  $('agents').replaceChildren(...known.map((value) => make('option', { value })));
  document.querySelector('#guest input').placeholder = known[0] ?? '';
  document.querySelector('.as').hidden = byToken;
  if (byToken) become(await agentOf(ofTab.get('token') ?? '').catch(() => ''));
  $('agent').addEventListener('change', (e) => readAs(e.target.value.trim()));
  $('guest').addEventListener('submit', (e) => { e.preventDefault(); readAs(e.target.elements.agent.value.trim()); });
  for (const id of ['refresh', 'badge']) $(id).addEventListener('click', () => load('refresh'));
  $('compose').addEventListener('click', compose);
  $('sign-in').addEventListener('submit', (e) => {
    e.preventDefault();
    signIn(e.target).catch(fail);
  });
  $('sign-out').addEventListener('click', () => { ofTab.remove('token'); readAs(''); });
  document.addEventListener('entry', ({ detail: { id, change, by } }) => {
    for (const l of Object.values(state.lists)) change ? l.change(id, change, by) : l.remove(id);
    watchEnd();
  });
  addEventListener('click', (e) => { if (e.target.closest?.('a.back') && !e.defaultPrevented) { e.preventDefault(); leave('/'); } }, { capture: true });
  addEventListener('scroll', watchEnd, { passive: true });
  addEventListener('resize', watchEnd);
  addEventListener('online', again);
  $('again').addEventListener('click', again);
  for (const event of ['pagehide', 'visibilitychange']) {
    addEventListener(event, () => {
      if (list() && view().name === 'feed') list().scroll = scrollY;
      Object.values(state.lists).forEach((l) => l.save());
    });
  }
  beginKeys({ refresh: () => load('refresh'), compose: () => reader.agent && compose(), tab: (name) => go(name === 'for_you' ? '/' : `/?feed=${name}`) });
  watchPull(() => load('refresh'));
  beginInterests({ fail, changed: () => load('refresh') });
  beginComposer(publishedPost);
  beginWelcome({ fail, prepare: followedSome });
  beginNews(() => ({ feed: state.feed, busy: list()?.busy ?? true, reading: view().name === 'feed', head: head() }));
  showReader();
  stream(); // before the list is read, so that no post is missed in between
  await Promise.all([reader.agent && loadProfile(), begin(show)]);
}

// head returns the newest displayed post of the timeline, in the format of event ids.
function head() {
  const first = state.lists.following?.docs[0];
  return first ? `${first.id}:${first.created_at}` : '';
}

// forget makes a list reload when it is shown again.
function forget(name) {
  if (state.lists[name]) ofTab.remove(state.lists[name].key);
  delete state.lists[name];
}

// followedSome reloads the current feed now, and the others when they are shown.
async function followedSome() {
  Object.keys(state.lists).filter((name) => name !== state.feed).forEach(forget);
  await load('refresh');
}

async function publishedPost() {
  forget('following'); // the server determines its position
  await go('/?feed=following');
  note('Published.');
}

start();
