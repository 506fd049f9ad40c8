// Confirmation before a change goes live: a name, a reason, and the list of changes.

import { make } from '/assets/api.js';

const $ = (id) => document.getElementById(id);

// MISSING holds the messages for empty fields.
const MISSING = {
  by: 'Enter your name: it is stored with the version.',
  why: 'Enter a reason: it is stored with the version.',
};

// complete reports missing fields and focuses the first.
function complete(form) {
  const empty = ['by', 'why'].filter((name) => form.elements[name].value.trim() === '');
  for (const name of ['by', 'why']) form.elements[name].setAttribute('aria-invalid', empty.includes(name));
  $('act-note').textContent = empty.map((name) => MISSING[name]).join(' ');
  form.elements[empty[0]]?.focus();
  return empty.length === 0;
}

// confirmed returns {by, why} if the change is confirmed, else null. Each row is [what changes,
// from, to].
export async function confirmed(form, title, rows) {
  if (!complete(form)) return null;
  const by = form.elements.by.value.trim(), why = form.elements.why.value.trim();
  $('confirm-title').textContent = title;
  $('confirm-by').textContent = `By ${by}: ${why}`;
  $('confirm-changes').replaceChildren(
    make('thead', {}, make('tr', {}, ...['Changes', 'From', 'To'].map((h) => make('th', { scope: 'col', textContent: h })))),
    make('tbody', {}, ...rows.map(([name, from, to]) => make('tr', {}, make('th', { scope: 'row', textContent: name }),
      make('td', { textContent: from }), make('td', { textContent: `→ ${to}` })))));
  const dialog = $('confirm');
  dialog.returnValue = '';
  const closed = new Promise((resolve) => { dialog.addEventListener('close', resolve, { once: true }); });
  dialog.showModal();
  await closed;
  return dialog.returnValue === 'yes' ? { by, why } : null;
}
