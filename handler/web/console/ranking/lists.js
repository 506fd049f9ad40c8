// The two lists of a reader: in force and proposed.

import { age, make, short } from '/assets/api.js';
import { stack } from '/assets/console/charts.js';
import { split, sum } from '/assets/console/scores.js';

// showLists renders both lists, with bars of one scale.
export function showLists(current, proposed, { a, b }, bases) {
  const most = Math.max(...[...a, ...b].map((item) => item.score), 0);
  showList(current, a, 'a', most, bases.a);
  showList(proposed, b, 'b', most, bases.b);
}

function showList(list, items, side, most, base) {
  list.replaceChildren(...items.map((item) => {
    const row = make('li', {},
      make('span', { className: 'rank', textContent: item.rank }),
      movement(item, side),
      make('span', { className: 'title', textContent: item.title || item.id }),
      make('span', { className: 'score' }, stack(partsOf(item, base), most, `Score ${factors(item)}`),
        make('span', { className: 'soft', textContent: `${short(item.score)} · ${age(item.age)}` })),
      make('span', { className: 'factors', textContent: factors(item) }));
    row.dataset.id = item.id;
    return row;
  }));
  if (items.length === 0) list.append(make('li', { className: 'none', textContent: 'Nothing for this reader at that time.' }));
}

const partsOf = (item, base) => split({ ...item, base, gains: sum(item.matched_tags) + sum(item.matched_keywords) });

function movement(item, side) {
  const by = item.other_rank - item.rank;
  const [kind, text, says] = item.other_rank === 0
    ? (side === 'b' ? ['new', 'new', 'not in the current list'] : ['gone', 'gone', 'not in the proposed list'])
    : by === 0 ? ['same', '=', 'at the same rank in both lists']
      : (by > 0) === (side === 'b') ? ['up', `▲ ${Math.abs(by)}`, 'goes up'] : ['down', `▼ ${Math.abs(by)}`, 'goes down'];
  return make('span', { className: `move ${kind}`, textContent: text, title: says });
}

function factors(item) {
  const gains = [...item.matched_tags, ...item.matched_keywords].map((g) => `${g.name} +${short(g.score)}${g.in === 'summary' ? ' in the summary' : ''}`).join(', ');
  const popularity = item.popularity === 1 ? '' : ` × popularity ${short(item.popularity)}`;
  const coReaders = item.co_readers === undefined ? '' : ` × co-readers ${short(item.co_readers)}`;
  return `${age(item.age)} old · relevance ${short(item.relevance)}${gains ? ` (${gains})` : ''} × decay ${short(item.decay)}${popularity}${coReaders} = ${short(item.score)}`;
}
