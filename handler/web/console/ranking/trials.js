// Trials of many values of a parameter: a sweep compares the lists of a sample of readers, a replay finds
// where each value would have placed what was clicked. Both are drawn with 95 % intervals.

import { age, make, short } from '/assets/api.js';
import { admin, fail, note } from '/assets/console/calls.js';
import { intervals } from '/assets/console/charts.js';
import { fill } from '/assets/console/tables.js';
import { parseDuration } from '/assets/console/ranking/curve.js';
import { writeValue } from '/assets/console/ranking/parameters.js';
import { percent } from '/assets/console/ranking/readers.js';
import { clicksOf, replay, textOf } from '/assets/console/ranking/replay.js';
import { state, toAPI } from '/assets/console/ranking/state.js';

const $ = (id) => document.getElementById(id);

const READERS = 40;
const AS_PROPOSED = '';

// METRICS has, by key, its name, how it is written, and whether it needs clicks.
const METRICS = {
  ndcg_gain: ['clicks: gain in NDCG over the ranking in force', short, true],
  ndcg: ['clicks: NDCG at 20', short, true],
  hit_rate: ['clicks: share among the first 20', percent, true],
  mrr: ['clicks: mean reciprocal rank', short, true],
  new_share: ['lists: share of new items', percent],
  overlap: ['lists: overlap', percent],
  median_age_b: ['lists: median age', age],
  tag_coverage_b: ['lists: interests covered', percent],
};

// buildTrials sets up the form; signal ends what runs.
export function buildTrials(signal) {
  const form = $('trial'), { of, low, high, steps, metric } = form.elements;
  const swept = () => state.parameters.find((p) => p.path === of.value);
  of.replaceChildren(...state.parameters.map((p) => make('option', { value: p.path, textContent: p.path })),
    make('option', { value: AS_PROPOSED, textContent: 'the proposal as it is (clicks only)' }));
  metric.replaceChildren(...Object.entries(METRICS).map(([key, [name]]) => make('option', { value: key, textContent: name, selected: key === 'new_share' })));
  const suggest = () => {
    const p = swept();
    for (const field of [low, high, steps]) field.disabled = !p;
    if (p) [low.value, high.value] = [100, 900].map((at) => writeValue(p, p.toValue(at)));
  };
  of.value = state.parameters.some((p) => p.path === 'decay.scale') ? 'decay.scale' : state.parameters[0].path;
  suggest();
  of.addEventListener('change', suggest);
  let running = null;
  form.addEventListener('submit', async (e) => {
    e.preventDefault();
    running?.abort();
    const mine = running = new AbortController();
    $('stop').hidden = false;
    try {
      await run(form.elements, swept(), AbortSignal.any([signal, mine.signal]));
    } catch (error) {
      if (mine.signal.aborted) $('trial-says').textContent = 'Stopped.';
      else if (!signal.aborted) fail(error);
    }
    if (running === mine && !signal.aborted) $('stop').hidden = $('progress').hidden = true;
  });
  $('stop').addEventListener('click', () => { running?.abort(); form.querySelector('.main').focus(); });
}

// valuesOf returns the values of a parameter between two, evenly on its slider.
function valuesOf(p, { low, high, steps }) {
  const [from, to] = [low, high].map((field) => (p.time ? parseDuration(field.value) : Number(field.value)));
  for (const [field, v] of [[low, from], [high, to]]) {
    if (!Number.isFinite(v) || field.value.trim() === '' || !p.ok(v)) { field.focus(); throw new Error(`${p.path} cannot be ${field.value || 'empty'}${p.time ? '; write a time such as 6h or 30m' : ''}.`); }
  }
  const n = Number(steps.value), log = from > 0 && to > 0 && Math.max(from, to) / Math.min(from, to) >= 8;
  const at = (share) => (log ? from * (to / from) ** share : from + (to - from) * share);
  const round = (v) => (p.time ? Math.round(v) : Number(v.toPrecision(3)));
  return [...new Set(Array.from({ length: n }, (_, i) => round(at(i / (n - 1)))))];
}

// proposals returns what is tried: the label of each, and its ranking.
function proposals(p, fields) {
  if (!p) return [{ label: 'in force', ranking: toAPI(state.live) }, { label: 'proposed', ranking: toAPI(state.proposed) }];
  return valuesOf(p, fields).map((v) => ({
    label: writeValue(p, v), ranking: toAPI({ ...state.proposed, [p.key]: v, ...(p.gaussian && { curves: [] }) }),
  }));
}

async function run(fields, p, signal) {
  const [name, write, needsClicks] = METRICS[fields.metric.value];
  if (!p && !needsClicks) { fields.of.focus(); throw new Error('Lists are compared for values of a parameter; the lists of the proposal as it is are above.'); }
  if (needsClicks && !fields.clicks.files.length) { fields.clicks.focus(); throw new Error('Choose the file of clicks: they decide which value is better.'); }
  const tried = proposals(p, fields);
  note('');
  $('trial-says').textContent = '';
  $('progress').hidden = false;
  $('progress').value = 0;
  const progress = (done, all) => { $('progress').max = all; $('progress').value = done; };
  const points = needsClicks ? await replayed(tried, fields, progress, signal) : await compared(tried, fields.metric.value, progress, signal);
  show(p, name, write, tried.map((t, i) => ({ x: t.label, ...points[i] })));
}

// compared measures the lists of a sample of readers, with the interval of the mean over them.
async function compared(tried, metric, progress, signal) {
  const points = [];
  for (const [i, { ranking }] of tried.entries()) {
    const { data } = await admin('POST', '/v1/compare', { a: toAPI(state.live), b: ranking, sample: READERS, seed: 1, k: 20 }, {}, signal);
    const f = data.figures[metric], margin = f.n > 1 ? (1.96 * f.sd) / Math.sqrt(f.n) : null;
    points.push(f.n ? { value: f.mean, margin, n: `${f.n} readers` } : { value: null, margin: null, n: 'no readers' });
    progress(i + 1, tried.length);
  }
  return points;
}

// replayed measures where the clicks would have been, with the interval over the readers.
async function replayed(tried, fields, progress, signal) {
  const { clicks, skipped } = clicksOf(await textOf(fields.clicks.files[0]));
  const found = await replay(clicks, [{ ranking: toAPI(state.live) }, ...tried].map((t) => t.ranking), progress, signal);
  const others = [skipped && `other events: ${skipped}`, found.unscored && `clicks on items that no ranking could have placed: ${found.unscored}`].filter(Boolean);
  $('trial-says').textContent = `${found.scored} clicks of ${found.readers} readers count${others.length ? `. Left out: ${others.join(', ')}` : ''}. ${found.readers < 20 ? 'These are too few readers to believe a difference. ' : ''}`;
  return tried.map((_, i) => found.measure(fields.metric.value, i + 1));
}

// show draws the points, and says which is best and whether one may believe it.
function show(p, name, write, points) {
  const of = p?.path ?? 'the proposal', some = points.filter((x) => x.value !== null), best = some.reduce((a, b) => (b.value > a.value ? b : a), some[0]);
  $('drawn').hidden = $('trial-all').hidden = false;
  $('drawn').replaceChildren(intervals(points, write, `${name} by ${of}, with 95 % intervals; the table below has all points`), make('figcaption', { textContent: `${name}, by ${of}; bars are 95 % intervals` }));
  const margin = (x) => (x.margin === null ? 'too few' : `${write(x.value - x.margin)} to ${write(x.value + x.margin)}`);
  fill($('trial-table'), [of, `${name} `, '95 % interval ', 'Of '], points.map((x) => [x.x, x.value === null ? '–' : write(x.value), x.value === null ? '–' : margin(x), x.n]));
  if (name !== METRICS.ndcg_gain[0] || !best) return;
  const sure = best.margin !== null && best.value - best.margin > 0;
  $('trial-says').textContent += best.value <= 0 ? 'None is better than the ranking in force.'
    : `${best.x} is best${sure ? ', and its interval is above 0: it is better than the ranking in force on these clicks' : ', but its interval includes 0: this may be chance'}.`;
}
