// Several readers at once: means and spreads of their figures, and a row for each.

import { age, make, short } from '/assets/api.js';

export const MOST = 20;

export const percent = (x) => (x == null ? '–' : `${(100 * x).toFixed(x > 0 && x < 0.1 ? 1 : 0)} %`);
const years = (x) => (x == null ? '–' : age(x));
const number = (x) => (x == null ? '–' : short(x));

// readersOf splits the input: distinct ids separated by commas or blanks.
export const readersOf = (text) => [...new Set(text.split(/[\s,]+/).filter(Boolean))];

// pair formats a figure of both lists. Values that look the same count as unchanged; there is
// none for a list without items, or a reader without interests.
function pair(write, a, b) {
  if (a == null && b == null) return 'none';
  return write(a) === write(b) ? `${write(a)}, unchanged` : `${write(a)} → ${write(b)}`;
}

const FIGURES = [
  ['Overlap', percent, 'overlap', 'items that are in both lists'],
  ['RBO', number, 'rbo', 'rank-biased overlap: 1 is the same list, the top counts most'],
  ['Kendall’s tau', number, 'kendall_tau', 'order of the items in both lists: 1 the same, −1 reversed'],
  ['New in the proposed list', percent, 'new_share', 'items that are not in the current list'],
  ['Median age', years, 'median_age', ''],
  ['Interests covered', percent, 'tag_coverage', 'of a reader’s tags, how many the list has'],
];

// showFigures shows the figures of one reader, or means and spreads of several.
export function showFigures(element, comparison) {
  const one = comparison.per_agent.length === 1 && comparison.per_agent[0];
  const f = one || comparison.figures;
  const mean = (s) => (one ? s : s?.n ? s.mean : null);
  element.replaceChildren(...FIGURES.map(([name, write, key, title]) => {
    const both = `${key}_a` in f;
    const value = both ? pair(write, mean(f[`${key}_a`]), mean(f[`${key}_b`])) : write(mean(f[key]));
    const spread = one ? '' : both ? spreads(write, f[`${key}_a`], f[`${key}_b`]) : spreadText(write, f[key]);
    return make('div', { title }, make('dt', { textContent: name }), make('dd', { textContent: value }),
      ...(spread ? [make('dd', { className: 'spread', textContent: spread })] : []));
  }));
}

const spreadText = (write, s) => (s.n ? `${write(s.min)} to ${write(s.max)}, SD ${write(s.sd)}` : '');
const spreads = (write, a, b) => (a.n ? `SD ${pair(write, a.sd, b.sd)}` : '');

// showReaders renders a row for each reader; choose is called with the id of the reader whose
// lists are requested.
export function showReaders(table, comparison, chosen, choose) {
  table.hidden = comparison.per_agent.length < 2;
  const head = ['Reader', 'Overlap', 'RBO', 'New', 'Median age', 'Interests covered'];
  const rows = comparison.per_agent.map((f) => {
    const button = make('button', { type: 'button', textContent: f.agent_id });
    button.setAttribute('aria-pressed', f.agent_id === chosen);
    button.addEventListener('click', () => choose(f.agent_id));
    const cells = [percent(f.overlap), number(f.rbo), percent(f.new_share),
      pair(years, f.median_age_a, f.median_age_b), pair(percent, f.tag_coverage_a, f.tag_coverage_b)];
    return make('tr', {}, make('td', {}, button), ...cells.map((text) => make('td', { className: 'number', textContent: text })));
  });
  table.replaceChildren(make('caption', { textContent: 'Choose the reader whose lists are shown.' }),
    make('thead', {}, make('tr', {}, ...head.map((h, i) => make('th', { scope: 'col', textContent: h, className: i ? 'number' : '' })))),
    make('tbody', {}, ...rows));
}
