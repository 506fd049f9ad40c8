// The items view: find items, read and delete one, and add one.

import { Refused, age, make, now } from '/assets/api.js';
import { admin, fail, failed, lister, note } from '/assets/console/calls.js';
import { button, fill, number, text } from '/assets/console/tables.js';
import { buildAdd } from '/assets/console/items/add.js';

const $ = (id) => document.getElementById(id);

const PAGE = 100;
const FILTERS = ['author', 'tag', 'words'];

let left = null; // is aborted when the view is left
let turn = 0;
let list; // the items loaded so far

const path = (id) => `/v1/items/${encodeURIComponent(id)}`;
const old = (item) => age(now() - item.update_time);

// search loads the first page of what the form asks for; with an id, that item alone.
async function search() {
  const fields = $('find').elements, id = fields.id.value.trim(), mine = ++turn;
  try {
    if (id) {
      const { data } = await admin('GET', path(id), undefined, {}, left);
      if (mine !== turn) return;
      list.put([data]);
      showItem(data);
    } else {
      await list.first(Object.fromEntries(FILTERS.map((name) => [name, fields[name].value.trim()]).filter(([, value]) => value)));
    }
    if (mine === turn && failed()) note('');
  } catch (error) {
    if (left.aborted || mine !== turn) return;
    list.put([]);
    if (error instanceof Refused && error.status === 404) return;
    $('count').textContent = 'Not known.';
    $('found').replaceChildren(); // neither the items of before, nor none
    fail(error, error.status === 400 ? FILTERS.map((name) => fields[name]).find((f) => error.message.includes(f.name)) ?? fields.id : undefined);
  }
}

// showList shows the loaded items.
function showList(found, more) {
  fill($('found'), ['Item', 'Author', 'Tags', 'Likes ', 'Comments ', 'Age ', 'Action'], found.map((item) => {
    const open = button('Open', () => { showItem(item); $('item-title').focus(); }, `Open ${item.title}`);
    return [text(item.title), text(item.author_id ?? ''), text((item.tags ?? []).join(', ')), number(item.likes ?? 0), number(item.comments ?? 0), number(old(item)), make('td', {}, open)];
  }), 'No item matches.');
  $('count').textContent = `${found.length.toLocaleString()} loaded, newest first${more ? '; there are more' : ''}.`;
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
  } catch (error) { fail(error); }
}

// askDelete offers to delete an item; sure is whether the user has pressed once.
function askDelete(item, sure) {
  $('delete').hidden = sure;
  $('sure').hidden = !sure;
  $('delete').onclick = () => { askDelete(item, true); $('keep').focus(); };
  $('keep').onclick = () => { askDelete(item, false); $('delete').focus(); };
  $('really').disabled = false;
  $('really').onclick = async () => {
    $('really').disabled = true;
    try {
      await admin('DELETE', path(item.id));
      note(`${item.id} is deleted.`);
      list.change((found) => found.filter((other) => other.id !== item.id));
      $('item').hidden = true;
      $('found-title').focus();
    } catch (error) {
      if (left.aborted) return;
      askDelete(item, false);
      fail(error, $('delete'));
    }
  };
}

// show fills the view. The query can have id, author, tag and words.
export async function show(query, signal) {
  left = signal;
  turn++;
  list = lister('/v1/items', 'items', PAGE, $('more'), signal, showList);
  for (const name of ['id', ...FILTERS]) if (query.get(name)) $('find').elements[name].value = query.get(name);
  $('find').addEventListener('submit', (e) => {
    e.preventDefault();
    search();
  });
  buildAdd(signal, (item) => {
    list.change((found) => [item, ...found.filter((other) => other.id !== item.id)]);
    showItem(item);
  });
  await search();
}
