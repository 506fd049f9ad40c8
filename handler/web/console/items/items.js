// The items view: find items, read and delete one, and add one.

import { Refused, age, make } from '/assets/api.js';
import { admin, fail, failed, note } from '/assets/console/calls.js';
import { fill, number, text } from '/assets/console/tables.js';
import { buildAdd } from '/assets/console/items/add.js';

const $ = (id) => document.getElementById(id);

const PAGE = 100;
const FILTERS = ['author', 'tag', 'words'];

let left = null; // is aborted when the view is left
let turn = 0;
let found = [], cursor = null; // the items loaded so far

const path = (id) => `/v1/items/${encodeURIComponent(id)}`;
const old = (item) => age(Date.now() / 1000 - item.update_time);

// search loads the first page of what the form asks for; with an id, that item alone.
async function search() {
  const id = $('find').elements.id.value.trim(), mine = ++turn;
  try {
    if (id) {
      const { data } = await admin('GET', path(id), undefined, {}, left);
      if (mine !== turn) return;
      [found, cursor] = [[data], null];
      showItem(data);
    } else {
      await page(mine);
    }
    if (mine !== turn) return;
    if (failed()) note('');
  } catch (error) {
    if (left.aborted || mine !== turn) return;
    if (!(error instanceof Refused && error.status === 404)) return fail(error);
    [found, cursor] = [[], null];
  }
  showList();
}

// page loads a page of what the form asks for; with a cursor it is added to the others.
async function page(mine, at) {
  const query = new URLSearchParams({ limit: PAGE });
  for (const name of FILTERS) if ($('find').elements[name].value.trim()) query.set(name, $('find').elements[name].value.trim());
  if (at) query.set('cursor', at);
  const { data } = await admin('GET', `/v1/items?${query}`, undefined, {}, left);
  if (mine === turn) [found, cursor] = [at ? [...found, ...data.items] : data.items, data.next_cursor];
}

// showList shows the loaded items.
function showList() {
  fill($('found'), ['Item', 'Author', 'Tags', 'Likes ', 'Comments ', 'Age ', 'Action'], found.map((item) => {
    const open = make('button', { type: 'button', textContent: 'Open' });
    open.setAttribute('aria-label', `Open ${item.title}`);
    open.addEventListener('click', () => { showItem(item); $('item-title').focus(); });
    return [text(item.title), text(item.author_id ?? ''), text((item.tags ?? []).join(', ')), number(item.likes ?? 0), number(item.comments ?? 0), number(old(item)), make('td', {}, open)];
  }), 'No item matches.');
  $('count').textContent = `${found.length.toLocaleString()} loaded, newest first${cursor ? '; there are more' : ''}.`;
  $('more').hidden = !cursor;
}

async function more() {
  const mine = turn;
  $('more').disabled = true;
  try {
    await page(mine, cursor);
    if (mine === turn) showList();
  } catch (error) {
    if (!left.aborted) fail(error);
  }
  $('more').disabled = false;
}

// showItem shows all fields of an item, and what can be done with it.
function showItem(item) {
  $('item').hidden = false;
  $('item-title').textContent = item.title;
  const write = (v) => (typeof v === 'object' ? JSON.stringify(v) : String(v));
  const rows = Object.entries(item).map(([name, v]) => [name, text(name === 'update_time' ? `${new Date(v * 1000).toLocaleString()} (${old(item)} ago)` : Array.isArray(v) && v.every((x) => typeof x === 'string') ? v.join(', ') : write(v))]);
  fill($('fields'), ['Field', 'Value'], rows);
  $('rank').onsubmit = (e) => {
    e.preventDefault();
    location.hash = `#/reader?${new URLSearchParams({ agent: e.target.elements.agent.value.trim(), item: item.id })}`;
  };
  askDelete(item, false);
  showActed(item.id);
}

// showActed tells how many readers have acted on an item.
let asked = '';
async function showActed(id) {
  asked = id;
  $('acted').textContent = '';
  try {
    const { data } = await admin('GET', `/v1/readers?item=${encodeURIComponent(id)}`, undefined, {}, left);
    if (id !== asked) return;
    $('acted').textContent = data.acted === null ? 'This server does not count readers: live popularity is off.'
      : `${data.acted.toLocaleString()} reader${data.acted === 1 ? ' has' : 's have'} clicked or liked it in ${data.days} days. To whom it was shown is stored by reader: ask for one below.`;
  } catch (error) {
    if (!left.aborted) fail(error);
  }
}

// askDelete offers to delete an item; sure is whether the user has pressed once.
function askDelete(item, sure) {
  $('delete').hidden = sure;
  $('sure').hidden = !sure;
  $('delete').onclick = () => { askDelete(item, true); $('keep').focus(); };
  $('keep').onclick = () => { askDelete(item, false); $('delete').focus(); };
  $('really').onclick = async () => {
    try {
      await admin('DELETE', path(item.id), undefined, {}, left);
      found = found.filter((other) => other.id !== item.id);
      $('item').hidden = true;
      showList();
      note(`${item.id} is deleted.`);
      $('found-title').focus();
    } catch (error) {
      if (!left.aborted) fail(error);
    }
  };
}

// show fills the view. The query can have id, author, tag and words.
export async function show(query, signal) {
  left = signal;
  turn++;
  [found, cursor] = [[], null];
  for (const name of ['id', ...FILTERS]) if (query.get(name)) $('find').elements[name].value = query.get(name);
  $('find').addEventListener('submit', (e) => {
    e.preventDefault();
    search();
  });
  $('more').addEventListener('click', more);
  buildAdd(signal, (item) => {
    found = [item, ...found.filter((other) => other.id !== item.id)];
    showList();
    showItem(item);
  });
  await search();
}
