// What is known about a reader: what was declared, and what was learned.

import { make, short } from '/assets/api.js';
import { stack } from '/assets/console/charts.js';
import { fill, number, text } from '/assets/console/tables.js';

const $ = (id) => document.getElementById(id);

const acts = (l) => ['clicks', 'likes', 'dislikes', 'hides'].filter((k) => l[k]).map((k) => `${l[k]} ${k}`).join(', ');

// showProfile renders a profile; null is that of a reader without one.
export function showProfile(profile) {
  const { interests = {}, keywords = [], learned = [], langs = [], muted_authors: authors = [], muted_tags: tags = [], muted_items: items = [], muted_words: words = [], muted_until: until = {} } = profile ?? {};
  const wants = [...Object.entries(interests).map(([name, weight]) => [name, 'interest', weight]), ...keywords.map((k) => [k.term, 'keyword', k.weight ?? 1])]
    .sort((a, b) => b[2] - a[2]);
  const most = Math.max(...wants.map((w) => w[2]), 0);
  fill($('declared'), ['Declared', 'Kind', 'Weight ', 'Bar'], wants.map(([name, kind, weight]) => [text(name), kind, number(short(weight)),
    make('td', { className: 'bar-cell' }, stack([['interests', weight]], most, `Weight ${short(weight)}`))]), 'No interests are declared.');
  const top = Math.max(...learned.map((l) => l.score ?? 0), 0);
  fill($('learned'), ['Learned', 'Kind', 'Effect', 'From', 'Bar'], learned.map((l) => [text(l.value), l.kind,
    l.score ? `+${short(l.score)}` : `× ${short(l.factor ?? 1)}`, text(acts(l)),
    make('td', { className: 'bar-cell' }, l.score ? stack([['learned', l.score]], top, `Adds ${short(l.score)}`) : stack([['popularity', 1 - (l.factor ?? 1)]], 1, `Takes ${short(100 * (1 - (l.factor ?? 1)))} %`))]),
  'Nothing has been learned.');
  const ends = (list, of) => list.map((one) => (of?.[one] ? `${one} (until ${new Date(of[one]).toLocaleString()})` : one));
  const terms = words.map((w) => (w.until ? `${w.term} (until ${new Date(w.until).toLocaleString()})` : w.term));
  const mutes = [['Languages', langs], ['Muted authors', ends(authors, until.authors)], ['Muted tags', ends(tags, until.tags)], ['Muted words', terms],
    ['Hidden items', ends(items, until.items)]].filter(([, list]) => list.length);
  $('mutes').replaceChildren(...mutes.flatMap(([name, list]) => [make('dt', { textContent: name }), make('dd', { textContent: list.slice(0, 50).join(', ') + (list.length > 50 ? `, and ${list.length - 50} more` : '') })]));
}
