// Tables.

import { make } from '/assets/api.js';

// heads returns column headings; those of numbers end with a space.
export const heads = (titles) => titles.map((h) => make('th', { scope: 'col', textContent: h.trim(), className: h.endsWith(' ') ? 'number' : '' }));

export const number = (text) => make('td', { className: 'number', textContent: text });
export const text = (text) => make('td', { className: 'text', textContent: text });

// button returns a button; a label names what it is about, if that is not beside it for everybody.
export function button(says, then, label) {
  const element = make('button', { type: 'button', textContent: says, ariaLabel: label ?? null });
  element.addEventListener('click', then);
  return element;
}

// fill shows rows, which are lists of cells: texts or elements. A text is in a column of numbers if
// its heading is one.
export function fill(table, titles, rows, empty = 'Nothing.') {
  const cell = (c, i) => (c instanceof Node ? c : titles[i].endsWith(' ') ? number(c) : make('td', { textContent: c }));
  const body = rows.map((cells) => make('tr', {}, ...cells.map(cell)));
  if (rows.length === 0) body.push(make('tr', {}, make('td', { colSpan: titles.length, className: 'soft', textContent: empty })));
  table.replaceChildren(make('thead', {}, make('tr', {}, ...heads(titles))), make('tbody', {}, ...body));
}
