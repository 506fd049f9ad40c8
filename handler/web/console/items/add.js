// Adding an item by a form.

import { now } from '/assets/api.js';
import { admin, fail, note, refuse } from '/assets/console/calls.js';

const $ = (id) => document.getElementById(id);

const FIELDS = ['id', 'title', 'tags', 'author_id', 'lang', 'url', 'summary'];

// itemOf returns the item that the form describes, dated now.
function itemOf(fields) {
  const item = { update_time: Math.floor(now()) };
  for (const name of FIELDS) {
    const value = fields[name].value.trim();
    if (value) item[name] = name === 'tags' ? value.split(',').map((t) => t.trim()).filter(Boolean) : value;
  }
  return item;
}

// buildAdd sets up the form; added is called with an item that was stored.
export function buildAdd(signal, added) {
  $('add').addEventListener('submit', async (e) => {
    e.preventDefault();
    const item = itemOf(e.target.elements);
    refuse(e.target, '', null);
    try {
      const { data } = await admin('POST', '/v1/items', [item], {}, signal);
      if (data.errors.length) return refuse(e.target, data.errors[0].reason);
      e.target.reset();
      added(item);
      note(`${item.id} is stored.`);
    } catch (error) { fail(error); }
  });
}
