// What a reader was shown lately, as far as it is recorded, and the sources of home by position.

import { make } from '/assets/api.js';
import { stack } from '/assets/console/charts.js';
import { fill, number, text } from '/assets/console/tables.js';

const $ = (id) => document.getElementById(id);

// day writes YYYYMMDD as a date.
export const day = (d) => `${d.slice(0, 4)}-${d.slice(4, 6)}-${d.slice(6)}`;

const MOST_NAMED = 5;

// showShown counts what is pending and what the filter of each day has, the newest first.
export function showShown(x) {
  const groups = new Map();
  for (const c of x.candidates) {
    const when = c.outcome === 'pending' ? 'pending' : c.outcome === 'seen' || c.shown_before ? c.day || 'a day' : '';
    if (when) groups.set(when, [...(groups.get(when) ?? []), c]);
  }
  const order = [...groups].sort(([a], [b]) => (a === 'pending' ? -1 : b === 'pending' ? 1 : b.localeCompare(a)));
  const most = Math.max(...order.map(([, list]) => list.length), 0);
  fill($('shown'), ['When', 'Items ', 'Bar', 'Such as'], order.map(([when, list]) => [
    when === 'pending' ? 'handed out lately, not yet in a filter' : /^\d{8}$/.test(when) ? day(when) : when, number(list.length),
    make('td', { className: 'bar-cell' }, stack([['learned', list.length]], most, `${list.length} items`)),
    text(list.slice(0, MOST_NAMED).map((c) => c.title || c.id).join(' · '))]), 'None of them was shown to this reader within the window.');
}

// showSources shows the source of each position of home.
export function showSources(x) {
  const page = x.candidates.filter((c) => c.outcome === 'paged' && c.variety?.right).sort((a, b) => a.variety.place - b.variety.place);
  $('pattern').hidden = page.length === 0;
  if (page.length === 0) return;
  const cell = (words, same) => make('td', { textContent: words, className: same ? 'soft' : '' });
  fill($('sources'), ['Position', ...page.map((_, i) => `${i + 1} `)], [
    ['filled by', ...page.map((c) => cell(c.variety.source))],
    ['assigned to', ...page.map((c) => cell(c.variety.right, c.variety.right === c.variety.source))]]);
}
