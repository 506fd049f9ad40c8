// The experiments view: what each experiment has shown so far and whether one may believe it, and the
// versions of the ranking.

import { age, make } from '/assets/api.js';
import { admin, fail } from '/assets/console/calls.js';
import { band } from '/assets/console/charts.js';
import { buildActs, end, promote, revert } from '/assets/console/ranking/act.js';
import { decayText, differences, fromAPI } from '/assets/console/ranking/parameters.js';
import { percent } from '/assets/console/ranking/readers.js';
import { loadState, state } from '/assets/console/ranking/state.js';
import { button, fill, number, text } from '/assets/console/tables.js';

const $ = (id) => document.getElementById(id);

let left = null; // is aborted when the view is left

// look opens the ranking view with a ranking as the proposal.
function look(ranking) {
  state.proposed = fromAPI(ranking);
  location.hash = '#/ranking';
}

const points = (x) => `${x < 0 ? '−' : '+'}${Math.abs(100 * x).toFixed(2)}`;
const rate = (v) => (v.impressions ? `${(100 * v.ctr).toFixed(2)} % (${(100 * v.ctr_interval.low).toFixed(2)}–${(100 * v.ctr_interval.high).toFixed(2)})` : '–');

// verdict says in words what the comparison with control shows.
function verdict(d) {
  if (!d) return '';
  if (d.verdict === 'too few') return 'too few to say';
  if (d.verdict === 'unbalanced') return 'not to be believed: its numbers of readers contradict its share';
  return `${points(d.ctr)} points, ${d.verdict === 'significant' ? '' : 'not '}significant (p = ${d.p.toPrecision(2)})`;
}

function showReport(data) {
  const head = ['Variant', 'Share ', 'Shown ', 'Clicks ', 'Click-through (95 %) ', 'Against control', 'Median age ', 'Authors ', 'Readers '];
  fill($('report'), head, data.variants.map((v) => [v.name, v.live ? percent(v.share) : 'ended', v.impressions, v.clicks, rate(v),
    text(verdict(v.difference)), v.median_age_seconds == null ? '–' : age(v.median_age_seconds), v.authors, v.agents]));
  const running = data.variants.filter((v) => v.name !== 'control' && (v.live || v.difference?.days?.length));
  $('running').replaceChildren(...running.map(card));
  $('none').hidden = running.length > 0;
}

// card shows one experiment: its verdict, its course by day, what may be wrong with it, and what can be
// done with it.
function card(v) {
  const d = v.difference, days = d?.days ?? [], title = make('h4', { textContent: `${v.name}: ${verdict(d) || 'nothing to compare yet'}` });
  const parts = [title];
  if (days.length) {
    const last = days.at(-1);
    parts.push(band(days.map((x) => [x.ctr, x.interval.low, x.interval.high]),
      `Difference in click-through from control by day, with its 95 % interval; at the end ${points(last.ctr)} points, ${points(last.interval.low)} to ${points(last.interval.high)}`));
    const table = make('table');
    fill(table, ['Day', 'Shown ', 'Shown to control ', 'Clicks ', 'Clicks of control ', 'Difference ', '95 % interval '], days.map((x) => [x.day, x.impressions.variant,
      x.impressions.control, x.clicks.variant, x.clicks.control, `${points(x.ctr)} points`, `${points(x.interval.low)} to ${points(x.interval.high)}`]));
    const scroll = make('div', { className: 'scroll', tabIndex: 0, role: 'group', ariaLabel: `Days of ${v.name}` }, table);
    parts.push(make('details', {}, make('summary', { textContent: `${days.length} day${days.length === 1 ? '' : 's'} as a table` }), scroll));
  }
  parts.push(make('ul', {}, ...facts(v).map((fact) => make('li', { textContent: fact }))));
  const experiment = state.version.experiments.find((x) => x.name === v.name);
  if (experiment) {
    parts.push(make('p', {}, button('Look at it', () => look(experiment.ranking)), ' ', button('Make it live for everybody', () => promote(experiment)), ' ', button('End', () => end(experiment))));
  }
  return make('article', { className: 'card', id: `experiment-${v.name}` }, ...parts);
}

// facts lists what one must know to believe the figures.
function facts(v) {
  const d = v.difference, all = [], experiment = state.version.experiments.find((x) => x.name === v.name);
  if (d?.readers) all.push(`${d.readers.variant.toLocaleString()} readers, ${d.readers.control.toLocaleString()} of control`);
  if (d?.sample_ratio) {
    const { expected, observed, ok } = d.sample_ratio;
    all.push(`Its part of the readers is ${percent(observed)}; by its share ${percent(expected)} are expected${ok ? '' : ': this cannot be chance, so no figure can be believed'}`);
  }
  if (d?.size) all.push(d.size.days == null ? `To find a difference of ${percent(d.size.relative)}, 90 days would not suffice` : `To find a difference of ${percent(d.size.relative)}, it needs ${Math.ceil(d.size.days)} days`);
  if (experiment) {
    all.push(limits(experiment.limits));
    all.push(differences(state.parameters, state.live, fromAPI(experiment.ranking)).map(([name, was, is]) => `${name} ${was} → ${is}`).join(', ') || 'Its ranking is the one in force');
  } else {
    all.push('It has ended');
  }
  return all;
}

function limits(l) {
  const some = Object.entries(l ?? {}).filter(([, most]) => typeof most === 'number' && most > 0).map(([name, most]) => `${name} ${most}`);
  return some.length ? `It ends by itself if it breaks a limit: ${some.join(', ')}` : 'It has no limits at which it would end by itself';
}

// versionText describes the changes of a version from the one before it.
function versionText(v, before) {
  const is = fromAPI(v.ranking);
  if (!before) return decayText(is);
  return differences(state.parameters, fromAPI(before.ranking), is).map(([name, was, now]) => `${name} ${was} → ${now}`).join(', ')
    || 'the ranking stays';
}

function showHistory(versions) {
  fill($('versions'), ['Version ', 'When', 'By', 'Why', 'Changes', 'Actions'], versions.map((v, i) => {
    const back = button('Revert to it', () => revert(v));
    back.disabled = v.version === state.version.version || v.version === 0;
    const what = versionText(v, versions[i + 1]) + v.experiments.map((x) => `; ${x.name} ${percent(x.share)}`).join('');
    return [number(v.version), v.at ? new Date(v.at).toLocaleString() : '', text(v.by), text(v.why), text(what),
      make('td', {}, button('Look at it', () => look(v.ranking)), ' ', back)];
  }));
}

async function load(reset) {
  const mine = left;
  if (reset) state.proposed = null; // the ranking view begins with the one in force
  try {
    await loadState(mine);
    const [report, history] = await Promise.all([
      admin('GET', `/v1/ranking/report?days=${$('days').value}`, undefined, {}, mine), admin('GET', '/v1/ranking/history?limit=20', undefined, {}, mine)]);
    $('version').textContent = state.version.version ? `Version ${state.version.version} is in force, by ${state.version.by}.` : 'The ranking of the configuration is in force.';
    showReport(report.data);
    showHistory(history.data.versions);
  } catch (error) { fail(error); }
}

// show fills the view.
export async function show(_, signal) {
  left = signal;
  buildActs(load);
  $('days').addEventListener('change', () => load());
  await load();
}
