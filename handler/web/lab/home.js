// The positions of a reader's home: the source that the pattern assigns to each, and the source
// that fills it.

import { age, make, short } from '/assets/api.js';

// showHome renders the page of an explanation of home.
export function showHome(list, explanation) {
  const page = explanation.candidates.filter((c) => c.outcome === 'paged').sort((a, b) => a.variety.place - b.variety.place);
  list.replaceChildren(...page.map((c, i) => make('li', {},
    make('span', { className: 'rank', textContent: i + 1 }),
    make('span', { className: 'move', textContent: position(c.variety) }),
    make('span', { textContent: c.title || c.id }),
    make('span', { className: 'factors', textContent: parts(c) }))));
  if (page.length === 0) list.append(make('li', { textContent: 'Nothing for this reader at that time.' }));
}

function position({ right, source }) {
  if (!source) return 'shown before';
  return right === source ? source : `${source} for ${right}`;
}

function parts(c) {
  const score = c.affinity
    ? `base ${short(c.base)} × decay ${short(c.decay)} × popularity ${short(c.popularity.factor)} × affinity ${short(c.affinity.factor)}`
    : `relevance ${c.relevance ? short(c.relevance.total) : '?'} × decay ${short(c.decay)} × popularity ${c.popularity ? short(c.popularity.factor) : '?'}${c.co_readers ? ` × co-readers ${short(c.co_readers.factor)}` : ''}`;
  return `${age(c.age)} old · ${score} = ${short(c.score)}`;
}
