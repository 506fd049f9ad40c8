// Adding an item by a form.

import { admin, fail, note } from '/assets/console/calls.js';

const $ = (id) => document.getElementById(id);

const FIELDS = ['id', 'title', 'tags', 'author_id', 'lang', 'url', 'summary'];

// itemOf returns the item that the form describes, dated now.
function itemOf(fields) {
  const item = { update_time: Math.floor(Date.now() / 1000) };
  for (const name of FIELDS) {
    const value = fields[name].value.trim();
    if (value) item[name] = name === 'tags' ? value.split(',').map((t) => t.trim()).filter(Boolean) : value;
  }
  return item;
}

// refuse shows why an item was refused, at the field that the reason names.
function refuse(fields, reason) {
  const name = FIELDS.find((f) => new RegExp(`\\b${f}\\b`).test(reason));
  for (const f of FIELDS) fields[f].setAttribute('aria-invalid', f === name);
  $('add-note').textContent = reason;
  fields[name ?? 'id'].focus();
}

// buildAdd sets up the form; added is called with an item that was stored.
export function buildAdd(signal, added) {
  $('add').addEventListener('submit', async (e) => {
    e.preventDefault();
    const fields = e.target.elements, item = itemOf(fields);
    $('add-note').textContent = '';
    for (const f of FIELDS) fields[f].setAttribute('aria-invalid', false);
    try {
      const { data } = await admin('POST', '/v1/items', [item], {}, signal);
      if (data.errors.length) return refuse(fields, data.errors[0].reason);
      e.target.reset();
      added(item);
      note(`${item.id} is stored.`);
    } catch (error) {
      if (!signal.aborted) fail(error);
    }
  });
}
