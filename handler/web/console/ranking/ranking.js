// The ranking view: propose other parameters, see their effect on a real reader's list, then try
// them on a share of the readers or make them live.

import { make, now, short } from '/assets/api.js';
import { admin, fail, failed, note } from '/assets/console/calls.js';
import { buildActs } from '/assets/console/ranking/act.js';
import { draw, factor, span, tabulate } from '/assets/console/ranking/curve.js';
import { buildCurves, showCurves } from '/assets/console/ranking/curves.js';
import { showHome } from '/assets/console/ranking/home.js';
import { showLists } from '/assets/console/ranking/lists.js';
import { fromAPI } from '/assets/console/ranking/parameters.js';
import { MOST, readersOf, showFigures, showReaders } from '/assets/console/ranking/readers.js';
import { buildSliders, drawer, mark, showSlider } from '/assets/console/ranking/sliders.js';
import { loadState, state, toAPI } from '/assets/console/ranking/state.js';
import { buildTrials } from '/assets/console/ranking/trials.js';

const $ = (id) => document.getElementById(id);
const HOUR = 3600, DAY = 24 * HOUR;

let turn = 0, timer = 0;
let asking = null; // aborts the pending comparison
let left = null;   // is aborted when the view is left

const copy = (p) => structuredClone(p);

// With reset the proposal is set to the live parameters.
async function loadRanking(reset) {
  await loadState(left);
  if (reset || !state.proposed) state.proposed = copy(state.live);
  if (!$('sliders').firstChild) {
    buildSliders(state.parameters, set);
    buildTrials(left);
  }
  $('version').textContent = state.version.version ? `version ${state.version.version}, by ${state.version.by}` : 'from the configuration';
  showSliders();
  propose();
}

// usePreset gets the parameters of a preset from the server.
async function usePreset(name) {
  const body = { b: `curves=${name}`, agents: [readers()[0] ?? 'u_1'], k: 1 };
  try {
    const { data } = await admin('POST', '/v1/compare', body);
    const { scale, offset, decay, curves, floor } = fromAPI(data.b);
    Object.assign(state.proposed, { scale, offset, decay, curves, floor });
    showSliders();
    propose();
  } catch (error) { fail(error); }
}

// showCurvesOrNot shows whether the sliders or the curves are in effect.
function showCurvesOrNot() {
  const n = state.proposed.curves.length;
  for (const p of state.parameters) if (p.gaussian) $(`slider-${p.key}`).classList.toggle('unused', n > 0);
  $('curves-help').textContent = n ? 'Their values are added. Changing offset, scale or decay replaces them with one Gaussian.'
    : 'None: the decay is one Gaussian with offset, scale and decay.';
  $('parts').hidden = n === 0;
}

function set(p, value) {
  state.proposed[p.key] = value;
  if (p.gaussian && state.proposed.curves.length) {
    state.proposed.curves = [];
    showCurves([]);
    showCurvesOrNot();
    note('One Gaussian replaces the curves.');
  }
  propose();
}

function showSliders() {
  for (const p of state.parameters) {
    state.proposed[p.key] ??= state.live[p.key]; // a version from before the parameter existed
    showSlider(p, state.proposed[p.key]);
  }
  showCurves(state.proposed.curves);
  showCurvesOrNot();
}

// propose redraws at once and compares a moment later, so that a moving slider does not send a
// request at each step.
function propose() {
  draw($('curve'), state.live, state.proposed);
  tabulate($('curve-table'), state.live, state.proposed);
  const p = state.proposed;
  $('halves').textContent = p.curves.length ? `${short(factor(p, 0))} now, ${short(factor(p, HOUR))} at 1 h, ${short(factor(p, DAY))} at 1 d`
    : `${short(p.decay)} at an age of ${span(p.offset + p.scale)}`;
  const same = JSON.stringify(toAPI(p)) === JSON.stringify(toAPI(state.live));
  $('live').disabled = same;
  $('save').disabled = same;
  outdate();
  clearTimeout(timer);
  timer = setTimeout(compare, 100);
}

const readers = () => readersOf($('whose').elements.agent.value);

// outdate marks the displayed results as outdated and aborts the pending requests: the server
// processes few comparisons at once.
function outdate() {
  $('main').classList.add('stale');
  asking?.abort();
}

// compare requests the figures of all readers, and the lists of one.
async function compare() {
  if (left.aborted) return;
  outdate();
  const { agent, at, k } = $('whose').elements;
  const agents = readers();
  agent.setCustomValidity(agents.length > MOST ? `At most ${MOST} readers at once; these are ${agents.length}.` : '');
  mark(agent, !agent.checkValidity());
  if (!$('whose').checkValidity()) return fail(new Error(agent.validationMessage || at.validationMessage || k.validationMessage));
  const mine = ++turn;
  if (!agents.includes(state.chosen)) state.chosen = agents[0];
  const body = { a: toAPI(state.live), b: toAPI(state.proposed), k: Number(k.value), agents };
  // The same moment for both calls.
  body.at = Math.floor(at.value ? new Date(at.value) / 1000 : now());
  const { signal } = asking = new AbortController();
  try {
    const one = admin('POST', '/v1/compare', { ...body, agents: [state.chosen], lists: true }, {}, signal);
    const all = agents.length > 1 ? admin('POST', '/v1/compare', body, {}, signal) : one;
    const [{ data: lists }, { data }] = await Promise.all([one, all]);
    if (mine !== turn) return;
    showFigures($('figures'), data);
    showReaders($('readers'), data, state.chosen, choose);
    for (const name of document.querySelectorAll('#lists .whose')) name.textContent = agents.length > 1 ? ` for ${state.chosen}` : '';
    showLists($('current'), $('proposed'), lists.lists, { a: state.live.base, b: state.proposed.base });
    if ($('home-of').open) await explainHome(mine, body, signal);
    if (mine !== turn) return;
    $('main').classList.remove('stale', 'waiting');
    if (failed()) note('');
  } catch (error) {
    if (mine === turn && !signal.aborted) fail(error);
  }
}

// explainHome shows the positions of the chosen reader's home. It is requested only when they are
// displayed: not every server has posts, and it costs as much as several refreshes.
async function explainHome(mine, { b, k, at }, signal) {
  const { data } = await admin('POST', '/v1/explain', { agent_id: state.chosen, feed: 'home', limit: k, ranking: b, at }, {}, signal);
  if (mine === turn) showHome($('home'), data);
}

async function choose(reader) {
  state.chosen = reader;
  await compare();
  document.querySelector('#readers [aria-pressed=true]')?.focus();
}

// drawReaders fills in a random sample of the maximum number of readers.
async function drawReaders() {
  try {
    const { data } = await admin('POST', '/v1/compare', { b: toAPI(state.proposed), sample: MOST, seed: 1, k: 1 });
    $('whose').elements.agent.value = data.per_agent.map((f) => f.agent_id).join(', ');
    propose();
  } catch (error) { fail(error); }
}

// load returns whether the ranking could be read.
async function load(reset) {
  const mine = left;
  try {
    await loadRanking(reset);
    return true;
  } catch (error) {
    if (!mine.aborted) fail(error);
    return false;
  }
}

// show fills the view; signal is aborted when it is left. The query can name the reader: agent=u_1.
export async function show(query, signal) {
  left = signal;
  turn++;
  signal.addEventListener('abort', () => { clearTimeout(timer); asking?.abort(); turn++; });
  drawer(signal);
  $('reset').addEventListener('click', () => { state.proposed = copy(state.live); showSliders(); propose(); });
  for (const b of document.querySelectorAll('[data-preset]')) b.addEventListener('click', () => usePreset(b.dataset.preset));
  buildCurves(() => state.proposed.curves, () => { showCurvesOrNot(); propose(); });
  buildActs(load);
  $('draw').addEventListener('click', drawReaders);
  $('home-of').addEventListener('toggle', (e) => { if (e.target.open) propose(); });
  $('agents').replaceChildren(...Array.from({ length: 8 }, (_, i) => make('option', { value: `u_${i + 1}` })));
  $('whose').elements.agent.value = query.get('agent') || state.chosen || 'u_1';
  $('whose').addEventListener('input', (e) => {
    if (e.target.name === 'words') $('lists').classList.toggle('words', e.target.checked);
    else propose();
  });
  $('whose').addEventListener('submit', (e) => e.preventDefault());
  if (!await load()) return;
  clearTimeout(timer);
  await compare(); // the view is shown once, with its lists, so that nothing moves
}
