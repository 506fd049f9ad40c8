// The parameters of a ranking as the server reports them, their names, and the scales of their
// sliders.

import { curvesFromAPI, curvesText, curvesToAPI } from '/assets/lab/curves.js';
import { parseDuration, writeDuration } from '/assets/lab/curve.js';

const DAY = 86400;

// The scale of a slider is logarithmic for factors, from low to high, with a separate zero at the
// left end if there is one, and linear for summands.
const log = (low, high, zero) => ({
  toValue: (p) => (zero && p === 0 ? 0 : Number((low * (high / low) ** (p / 1000)).toPrecision(2))),
  toSlider: (v) => (v <= (zero ? 0 : low) ? 0 : Math.max(0, Math.round((1000 * Math.log(v / low)) / Math.log(high / low)))),
});
const even = (low, high) => ({
  toValue: (p) => Number((low + ((high - low) * p) / 1000).toFixed(2)),
  toSlider: (v) => Math.round((1000 * (v - low)) / (high - low)),
});
// Rounds only as far as each step of a slider stays visible.
const roundTime = (s) => { const to = s >= 2 * DAY ? 1800 : s >= 7200 ? 300 : 60; return Math.round(s / to) * to; };
const times = (low, high, zero) => {
  const { toSlider } = log(low, high, zero);
  return { time: true, toSlider, toValue: (p) => (zero && p === 0 ? 0 : Math.max(60, roundTime(low * (high / low) ** (p / 1000)))) };
};

const within = (low, high) => (v) => v >= low && v <= high;
const above0 = (high) => (v) => v > 0 && v <= high;
const positive = (v) => v >= 0;
const share = { ...even(0, 1), ok: within(0, 1) };

const MORE = 'Floor, base and keywords', VARIETY = 'Variety of a page', LEARNED = 'Learned interests of a reader', HOME = 'Home: scores of its sources';
const spread = (of, label, what) => ({
  [`diversity.${of}.decay`]: { key: `${of}Decay`, label: `${label} decay`, group: VARIETY, help: `factor for each further item of a page ${what}; 1: off`, ...even(0.01, 1), ok: above0(1) },
  [`diversity.${of}.floor`]: { key: `${of}Floor`, label: `${label} floor`, group: VARIETY, help: 'minimum of that factor', ...share },
});

const learned = (kind, label) => ({
  [`learned.${kind}`]: { key: `learned-${kind}`, label, group: LEARNED, help: 'maximum that they add, in bases; 0: off', ...even(0, 3), ok: within(0, 100) },
});

const home = (name, label, help, moves = { ...even(0.01, 3), ok: above0(1000) }) => ({ [`home.${name}`]: { key: `home-${name}`, label, group: HOME, help, ...moves } });

// Known parameters by path. One without a group is always visible.
const KNOWN = {
  'decay.offset': { key: 'offset', label: 'Offset', help: 'age up to which the score does not decay', gaussian: true, ...times(60, 14 * DAY, true), ok: positive },
  'decay.scale': { key: 'scale', label: 'Scale', help: 'age beyond the offset at which the factor is “decay”', gaussian: true, ...times(600, 60 * DAY), ok: (v) => v >= 1 },
  'decay.decay': { key: 'decay', label: 'Decay', help: 'the factor at offset + scale', gaussian: true, ...even(0.01, 0.99), ok: (v) => v > 0 && v < 1 },
  'popularity.weight': { key: 'weight', label: 'Popularity weight', help: '0: uploaded popularity does not count', ...even(0, 3), ok: within(0, 1000) },
  'popularity.weight_2h': { key: 'weight_2h', label: 'Readers, 2 hours', help: 'weight of readers who clicked or liked in about the last 2 hours', ...even(0, 3), ok: within(0, 1000) },
  'popularity.weight_2d': { key: 'weight_2d', label: 'Readers, 2 days', help: 'weight of readers who did so in about the last 2 days', ...even(0, 3), ok: within(0, 1000) },
  'decay.floor': { key: 'floor', label: 'Decay floor', group: MORE, help: 'the decay is never below it', ...log(1e-6, 0.9, true), ok: (v) => v >= 0 && v < 1 },
  base: { key: 'base', label: 'Base', group: MORE, help: 'relevance of items that match no interest', ...log(0.001, 10), ok: above0(1000) },
  'keywords.summary': { key: 'summary', label: 'Keywords in summaries', group: MORE, help: 'part of its weight that a keyword adds if it is only in the summary', ...share },
  ...spread('author', 'Author', 'by one author'), ...spread('site', 'Site', 'of one site'), ...spread('tag', 'Tag', 'with the same first tag'),
  'diversity.same_story': { key: 'sameStory', label: 'Same story', group: VARIETY, help: 'part of their words that two titles of one story share; 0 and 1: off', ...share },
  'explore.share': { key: 'explore', label: 'Exploration', group: VARIETY, help: 'part of the positions after the fifth for young items drawn at random', ...share },
  ...learned('tags', 'Tags'), ...learned('author', 'Authors'), ...learned('lang', 'Languages'), ...learned('words', 'Words of titles'),
  'learned.negative': { key: 'learnedNegative', label: 'Against', group: LEARNED, help: 'part of the relevance that dislikes and hides remove', ...even(0, 0.9), ok: within(0, 0.9) },
  'learned.half_life': { key: 'learnedHalfLife', label: 'Half-life', group: LEARNED, help: 'time after which an act counts half', ...times(3600, 365 * DAY), ok: (v) => v >= 3600 },
  ...home('decay', 'Decay', 'per hour of age, of all but discovery', { ...log(0.001, 1), ok: above0(10) }),
  ...home('following', 'Following', 'base of posts by followed authors'), ...home('trending', 'Trending', 'base of trending items'),
  ...home('promoted', 'Promoted', 'base of promoted items'),
  ...home('affinity', 'Affinity', 'maximum that likes, replies and clicks add; 0: off', { ...even(0, 3), ok: within(0, 1000) }),
  ...home('affinity_days', 'Affinity, days', 'days for which a like or a reply counts', { ...log(1, 365), ok: within(1, 365) }),
};

const words = (name) => name.replaceAll(/[._]/g, ' ').replace(/^./, (c) => c.toUpperCase());

// unknown guesses the properties of an unknown parameter from its name and value.
function unknown(path, value) {
  const last = path.split('.').at(-1), group = words(path.split('.')[0]);
  const p = { key: path.replaceAll('.', '-'), label: words(path), help: '', group };
  if (typeof value === 'string') return { ...p, ...times(3600, 365 * DAY, true), ok: positive };
  if (last === 'decay') return { ...p, ...even(0.01, 1), ok: above0(1) };
  if (/^(floor|share|summary|part|likeness)$/.test(last)) return { ...p, ...share };
  return { ...p, ...even(0, Math.max(3, 4 * value)), ok: positive };
}

// leaves returns the numbers and durations in the server's JSON, by path.
function leaves(value, path = '') {
  if (typeof value === 'number' || (typeof value === 'string' && Number.isFinite(parseDuration(value)))) return [[path, value]];
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, v]) => leaves(v, path ? `${path}.${name}` : name));
}

// GAUSSIAN is the server's replacement for curves; OFF applies to a ranking from before
// diversity, exploration or learning existed, which is written without them.
const GAUSSIAN = { 'decay.offset': '1h', 'decay.scale': '24h', 'decay.decay': 0.5 };
const OFF = {
  ...Object.fromEntries(Object.keys(KNOWN).filter((path) => /^(diversity|explore|learned)\./.test(path)).map((path) => [path, path.endsWith('.decay') ? 1 : 0])),
  'learned.half_life': '720h',
};

// parametersOf returns the parameters of a ranking, known ones first.
export function parametersOf(ranking) {
  const there = { ...GAUSSIAN, ...OFF, ...Object.fromEntries(leaves(ranking)) };
  return [...Object.keys(KNOWN).filter((path) => path in there), ...Object.keys(there).filter((path) => !(path in KNOWN))]
    .map((path) => ({ path, ...(KNOWN[path] ?? unknown(path, there[path])) }));
}

// fromAPI converts a ranking to values by parameter key, with times in seconds.
export function fromAPI(ranking) {
  const there = { ...GAUSSIAN, ...OFF, ...Object.fromEntries(leaves(ranking)) };
  const values = { curves: curvesFromAPI(ranking.decay.curves ?? []) };
  for (const { path, key } of parametersOf(ranking)) values[key] = typeof there[path] === 'string' ? parseDuration(there[path]) : there[path];
  return values;
}

// toAPI converts the values of the parameters to the server's format.
export function toAPI(parameters, values) {
  const ranking = {};
  for (const p of parameters) {
    if (values[p.key] === undefined || (p.gaussian && values.curves.length)) continue;
    const names = p.path.split('.'), last = names.pop();
    const to = names.reduce((at, name) => (at[name] ??= {}), ranking);
    to[last] = p.time ? writeDuration(values[p.key]) : values[p.key];
  }
  if (values.curves.length) ranking.decay.curves = curvesToAPI(values.curves);
  return ranking;
}

export const writeValue = (p, value) => (value === undefined ? '–' : p.time ? writeDuration(value) : String(value));

// differences returns the changes between two rankings: [name, from, to].
export function differences(parameters, from, to) {
  const curved = from.curves.length > 0 || to.curves.length > 0;
  const rows = parameters.filter((p) => !(p.gaussian && curved))
    .map((p) => [p.path, writeValue(p, from[p.key]), writeValue(p, to[p.key])]);
  if (curved) rows.unshift(['decay', decayText(from), decayText(to)]);
  return rows.filter(([, was, is]) => was !== is);
}

// decayText describes the decay in a few words.
export const decayText = (p) => (p.curves.length ? curvesText(p.curves)
  : `scale ${writeDuration(p.scale)}, offset ${writeDuration(p.offset)}, decay ${p.decay}`);
