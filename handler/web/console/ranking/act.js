// Putting a proposal to work: for everybody, or for a share of the readers as an experiment.

import { Refused, ofTab } from '/assets/api.js';
import { admin, fail, note } from '/assets/console/calls.js';
import { confirmed } from '/assets/console/confirm.js';
import { differences, fromAPI } from '/assets/console/ranking/parameters.js';
import { percent } from '/assets/console/ranking/readers.js';
import { state, toAPI, toLive } from '/assets/console/ranking/state.js';

const $ = (id) => document.getElementById(id);

let reload = async () => {};

// buildActs sets up the forms of a view. load(reset) reads the ranking again after a change; with reset the
// proposal becomes the one in force.
export function buildActs(load) {
  reload = load;
  $('why-form').elements.by.value = ofTab.get('by') ?? '';
  $('why-form').addEventListener('submit', (e) => e.preventDefault());
  $('live')?.addEventListener('click', makeLive);
  $('save')?.addEventListener('click', saveVariant);
}

// ask requires a name, a reason, and a confirmation of the change. The name is kept for the tab.
async function ask(title, rows) {
  const by = await confirmed($('why-form'), title, rows);
  if (by) ofTab.set('by', by.by);
  return by;
}

// put sends a change.
async function put(method, path, body, by, done, reset) {
  const { why } = $('why-form').elements; // the view may be left before the answer
  try {
    // If-Match prevents overwriting concurrent changes.
    const { data } = await admin(method, path, { ...body, ...by }, state.etag ? { 'If-Match': state.etag } : {});
    why.value = '';
    await reload(reset);
    note([done, ...(data.notes ?? [])].join(' '));
  } catch (error) {
    const changed = error instanceof Refused && error.status === 412;
    if (changed) await reload();
    fail(error);
  }
}

const change = (body, by, done) => put('PUT', '/v1/ranking', body, by, done);

async function makeLive() {
  const by = await ask('Make this live for everybody?', toLive(state.proposed));
  if (by) change({ ranking: toAPI(state.proposed) }, by, 'Live. Every server has it within two seconds.');
}

async function saveVariant() {
  const name = $('variant').value.trim();
  if (!name || !$('variant').checkValidity()) return fail(new Error('Give the experiment a name of a–z, 0–9, _ and -.'), $('variant'));
  if (!$('share').checkValidity()) return fail(new Error('The share must be more than 0 and at most 100 %.'), $('share'));
  const others = state.version.experiments.filter((x) => x.name !== name);
  const before = state.version.experiments.find((x) => x.name === name);
  const mine = { name, share: Number($('share').value) / 100, ranking: toAPI(state.proposed) };
  const was = before ? fromAPI(before.ranking) : state.live;
  const rows = [['share of the readers', before ? percent(before.share) : 'none', percent(mine.share)], ...differences(state.parameters, was, state.proposed)];
  const by = await ask(`${before ? 'Change' : 'Begin'} the experiment ${name}?`, rows);
  if (by) await change({ experiments: [...others, mine] }, by, `Saved: ${percent(mine.share)} of the readers are in ${name}.`);
}

// promote puts the ranking of an experiment in force for everybody, and ends the experiment.
export async function promote(experiment) {
  const rows = [...toLive({ ...state.live, ...fromAPI(experiment.ranking) }), ['experiment', experiment.name, 'ended']];
  const by = await ask(`Make ${experiment.name} live for everybody?`, rows);
  if (by) change({ ranking: experiment.ranking, experiments: state.version.experiments.filter((x) => x.name !== experiment.name) }, by, `${experiment.name} is live for everybody.`);
}

export async function end(experiment) {
  const rows = [['share of the readers', percent(experiment.share), 'none'], ...differences(state.parameters, fromAPI(experiment.ranking), state.live)];
  const by = await ask(`End the experiment ${experiment.name}?`, rows);
  if (by) change({ experiments: state.version.experiments.filter((x) => x.name !== experiment.name) }, by, `${experiment.name} has ended.`);
}

const experimentsText = (list) => list.map((x) => `${x.name} ${percent(x.share)}`).join(', ') || 'none';

export async function revert(v) {
  const rows = toLive({ ...state.live, ...fromAPI(v.ranking) });
  const [was, is] = [experimentsText(state.version.experiments), experimentsText(v.experiments)];
  if (was !== is) rows.push(['experiments', was, is]);
  const by = await ask(`Go back to version ${v.version}?`, rows);
  if (by) put('POST', '/v1/ranking/revert', { version: v.version }, by, `Version ${v.version} is live again.`, true);
}
