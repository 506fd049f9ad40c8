// The tables of the overview: what was degraded, when and why, and the items by age.

import { age, make } from '/assets/api.js';
import { stack } from '/assets/console/charts.js';
import { runbook } from '/assets/console/runbook.js';
import { fill, number, text } from '/assets/console/tables.js';

const $ = (id) => document.getElementById(id);

// LACKED says what readers got instead of a part.
const LACKED = {
  recall: 'older candidates', dedup: 'repeats were possible', session: 'pages that could not be continued', catalog: 'items were left out', timeline: 'timelines were read from the database',
  social: 'only cached public posts', why: 'no reasons of items', following: 'home without followed authors', trending: 'no trending items', discovery: 'home without discovery',
  promoted: 'no promotions', co_readers: 'not raised by co-readers',
};

const dayOf = (time) => new Date(time).toDateString();
const MOST_INCIDENTS = 100; // that the server lists

// showIncidents lists the times in which pages lacked something or calls failed, and adds them up for
// yesterday and today.
export function showIncidents({ incidents, hours, at }) {
  const minutes = incidents.flatMap((x) => Array.from({ length: x.minutes }, (_, i) => dayOf(Date.parse(x.begin) + 60_000 * i)));
  const sum = (day) => minutes.filter((of) => of === day).length;
  const today = new Date(at), yesterday = new Date(today);
  yesterday.setDate(today.getDate() - 1);
  const counted = hours.filter((p) => p.servers > 0 && dayOf(p.begin) === dayOf(yesterday)).length;
  $('by-day').textContent = `Yesterday ${sum(dayOf(yesterday))}, today ${sum(dayOf(today))} minutes in which pages lacked something or calls failed.`
    + (counted < 24 ? ` Nothing is known of ${24 - counted} hours of yesterday: no server has counted in them.` : '')
    + (incidents.length === MOST_INCIDENTS ? ' There may be more, earlier than those listed.' : '');
  fill($('incidents'), ['From', 'Minutes ', 'What readers got', 'Did not answer', 'Runbook'], incidents.map((x) => [
    new Date(x.begin).toLocaleString(undefined, { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }), number(x.minutes),
    text([x.failed && 'errors', ...x.lacked.map((part) => LACKED[part] ?? part)].filter(Boolean).join(', ')),
    text(x.down.join(', ') || 'no dependency: a server was too slow, or refused calls'),
    make('td', {}, runbook(x.down.length ? 'dependency' : x.failed ? 'errors' : 'degraded'))]), 'None in the last seven days.');
}

// showAges draws the number of items by age.
export function showAges(items) {
  $('ages-of').hidden = !items;
  if (!items) return;
  const most = Math.max(...items.ages.map((a) => a.items)), all = items.ages.reduce((sum, a) => sum + a.items, 0);
  const from = items.ages.map((_, i) => (i ? items.ages[i - 1].below : 0));
  fill($('ages'), ['Age', 'Items ', 'Bar'], items.ages.map((a, i) => [
    a.below === null ? `more than ${age(from[i])}` : from[i] ? `${age(from[i])} to ${age(a.below)}` : `this hour`, number(a.items.toLocaleString()),
    make('td', { className: 'bar-cell' }, stack([['interests', a.items]], most, `${all ? Math.round((100 * a.items) / all) : 0} % of all items`))]));
}
