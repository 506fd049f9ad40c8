// The positions of a reader's home: the source that the pattern assigns to each, and the source
// that fills it.

import { make } from '/assets/api.js';
import { inWords } from '/assets/console/scores.js';

// showHome renders the page of an explanation of home.
export function showHome(list, explanation) {
  const page = explanation.candidates.filter((c) => c.outcome === 'paged').sort((a, b) => a.variety.place - b.variety.place);
  list.replaceChildren(...page.map((c, i) => make('li', {},
    make('span', { className: 'rank', textContent: i + 1 }),
    make('span', { className: 'move', textContent: position(c.variety) }),
    make('span', { textContent: c.title || c.id }),
    make('span', { className: 'factors', textContent: inWords(c) }))));
  if (page.length === 0) list.append(make('li', { textContent: 'Nothing for this reader at that time.' }));
}

function position({ right, source }) {
  if (!source) return 'shown before';
  return right === source ? source : `${source} for ${right}`;
}
