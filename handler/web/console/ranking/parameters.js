// The parameters of a ranking as the server reports them, their labels, and the scales of their
// sliders.

import { curvesFromAPI, curvesText, curvesToAPI } from '/assets/console/ranking/curves.js';
import { parseDuration, writeDuration } from '/assets/console/ranking/curve.js';
import { TABLE, within } from '/assets/console/ranking/table.js';

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
  return { toSlider, toValue: (p) => (zero && p === 0 ? 0 : Math.max(60, roundTime(low * (high / low) ** (p / 1000)))) };
};

const share = even(0, 1), factor = even(0.01, 1), weight = even(0, 3);

const MORE = 'Floor, base and keywords', HALF_LIVES = 'Popularity of other half-lives', VARIETY = 'Variety of a page', LEARNED = 'Learned interests of a reader', CO_READ = 'Co-readers', HOME = 'Home: scores of its sources';
const GROUPS = { base: MORE, keywords: MORE, diversity: VARIETY, explore: VARIETY, learned: LEARNED, co_read: CO_READ, home: HOME };

// KNOWN has what the server's table lacks, by path. A parameter without a group is always visible.
export const KNOWN = {
  'decay.offset': { key: 'offset', label: 'Offset', gaussian: true, ...times(60, 14 * DAY, true) },
  'decay.scale': { key: 'scale', label: 'Scale', gaussian: true, ...times(600, 60 * DAY) },
  'decay.decay': { key: 'decay', label: 'Decay', gaussian: true, ...even(0.01, 0.99) },
  'popularity.weight': { key: 'weight', label: 'Popularity weight', ...weight },
  'popularity.weight_2h': { label: 'Readers, 2 hours', ...weight }, 'popularity.weight_2d': { label: 'Readers, 2 days', ...weight },
  'popularity.weight_1h': { label: 'Readers, 1 hour', group: HALF_LIVES, ...weight }, 'popularity.weight_6h': { label: 'Readers, 6 hours', group: HALF_LIVES, ...weight },
  'popularity.weight_1d': { label: 'Readers, 1 day', group: HALF_LIVES, ...weight }, 'popularity.weight_7d': { label: 'Readers, 7 days', group: HALF_LIVES, ...weight },
  'decay.floor': { key: 'floor', label: 'Decay floor', group: MORE, ...log(1e-6, 0.9, true) },
  base: { label: 'Base', ...log(0.001, 10) }, 'keywords.summary': { label: 'Keywords in summaries', ...share },
  'diversity.author.decay': { label: 'Author decay', ...factor }, 'diversity.author.floor': { label: 'Author floor', ...share },
  'diversity.site.decay': { label: 'Site decay', ...factor }, 'diversity.site.floor': { label: 'Site floor', ...share },
  'diversity.tag.decay': { label: 'Tag decay', ...factor }, 'diversity.tag.floor': { label: 'Tag floor', ...share },
  'diversity.same_story': { label: 'Same story', ...share }, 'explore.share': { label: 'Exploration', ...share },
  'learned.tags': { label: 'Tags', ...weight }, 'learned.author': { label: 'Authors', ...weight },
  'learned.lang': { label: 'Languages', ...weight }, 'learned.words': { label: 'Words of titles', ...weight },
  'learned.negative': { label: 'Against', ...even(0, 0.9) }, 'learned.half_life': { label: 'Half-life', ...times(3600, 365 * DAY) },
  'co_read.weight': { label: 'Weight', ...even(0, 10) }, 'co_read.scale': { label: 'Scale', ...log(0.01, 10) },
  'home.decay': { label: 'Decay', ...log(0.001, 1) }, 'home.following': { label: 'Following', ...even(0.01, 3) },
  'home.trending': { label: 'Trending', ...even(0.01, 3) }, 'home.promoted': { label: 'Promoted', ...even(0.01, 3) },
  'home.affinity': { label: 'Affinity', ...weight }, 'home.affinity_days': { label: 'Affinity, days', ...log(1, 365) },
};

const words = (name) => name.replaceAll(/[._]/g, ' ').replace(/^./, (c) => c.toUpperCase());

// unknown guesses the properties of an unknown parameter from its name and value. Those that the
// table has replace them.
function unknown(path, value) {
  const names = path.split('.'), last = names.at(-1), p = { label: words(path), help: '', group: GROUPS[names[0]] ?? words(names[0]) };
  if (typeof value === 'string' || TABLE[path]?.time) return { ...p, time: true, ...times(3600, 365 * DAY, true) };
  if (last === 'decay') return { ...p, notLeast: true, most: 1, ...factor };
  if (/^(floor|share|summary|part|likeness)$/.test(last)) return { ...p, most: 1, ...share };
  return { ...p, ...even(0, Math.max(3, 4 * value)) };
}

// leaves returns the numbers and durations in the server's JSON, by path.
function leaves(value, path = '') {
  if (typeof value === 'number' || (typeof value === 'string' && Number.isFinite(parseDuration(value)))) return [[path, value]];
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, v]) => leaves(v, path ? `${path}.${name}` : name));
}

// valuesOf returns the values in the server's JSON by path, and those of the table for parameters
// that it lacks.
const valuesOf = (ranking) => Object.fromEntries([...Object.entries(TABLE).map(([path, p]) => [path, p.absent]), ...leaves(ranking)]);

// parametersOf returns the parameters of a ranking, known ones first.
export function parametersOf(ranking) {
  const there = valuesOf(ranking);
  return Object.keys({ ...KNOWN, ...there }).map((path) => {
    const p = { path, key: path.replaceAll('.', '-'), group: GROUPS[path.split('.')[0]], ...(KNOWN[path] ?? unknown(path, there[path])), ...TABLE[path] };
    return { ...p, ok: within(p) };
  });
}

// fromAPI converts a ranking to values by parameter key, with times in seconds.
export function fromAPI(ranking) {
  const there = valuesOf(ranking), values = { curves: curvesFromAPI(ranking.decay.curves ?? []) };
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
