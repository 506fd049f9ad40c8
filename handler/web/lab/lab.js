// The decay lab: propose other parameters, see their effect on a real reader's list, then try
// them on a share of the readers or make them live.

import { Refused, age, call, make, ofTab, short } from '/assets/api.js';
import { confirmed } from '/assets/lab/confirm.js';
import { buildCurves, showCurves } from '/assets/lab/curves.js';
import { draw, factor, parseDuration, span } from '/assets/lab/curve.js';
import { showHome } from '/assets/lab/home.js';
import { decayText, differences, fromAPI, parametersOf, toAPI as write, writeValue } from '/assets/lab/parameters.js';
import { MOST, percent, readersOf, showFigures, showReaders } from '/assets/lab/readers.js';

const $ = (id) => document.getElementById(id);
const HOUR = 3600, DAY = 24 * HOUR;

const state = { parameters: [], chosen: '', version: null, etag: '', live: null, proposed: null, turn: 0, timer: 0, asking: null };

// --- the API -----------------------------------------------------------------

async function admin(method, path, body, headers = {}, signal = undefined) {
  const token = ofTab.get('admin');
  if (token) headers['X-Admin-Token'] = token;
  return call(method, path, { body, headers, signal });
}

const toAPI = (values) => write(state.parameters, values);
const copy = (p) => structuredClone(p);

// With reset the proposal is set to the live parameters.
async function loadRanking(reset) {
  const { data, etag } = await admin('GET', '/v1/ranking');
  Object.assign(state, { version: data, etag, live: fromAPI(data.ranking) });
  if (reset || !state.proposed) state.proposed = copy(state.live);
  if (state.parameters.length === 0) buildSliders(parametersOf(data.ranking));
  $('version').textContent = data.version ? `version ${data.version}, by ${data.by}` : 'from the configuration';
  showSliders();
  propose();
}

// --- sliders -------------------------------------------------------------------

// buildSliders creates a slider for each parameter of the server; those of a group are in a
// section that is initially closed.
function buildSliders(parameters) {
  state.parameters = parameters;
  const groups = new Map([[undefined, $('sliders')]]);
  for (const p of parameters) {
    if (!groups.has(p.group)) groups.set(p.group, make('details', {}, make('summary', { textContent: p.group })));
    groups.get(p.group).append(slider(p));
  }
  $('sliders').append(...[...groups.values()].slice(1));
}

function slider(p) {
  const range = make('input', { type: 'range', min: 0, max: 1000, step: 1, id: `range-${p.key}` });
  const text = make('input', { type: 'text', id: `text-${p.key}`, size: 8, spellcheck: false });
  text.setAttribute('aria-label', `${p.label}, exactly`);
  const showText = () => { text.value = writeValue(p, state.proposed[p.key]); range.setAttribute('aria-valuetext', text.value); };
  range.addEventListener('input', () => {
    set(p, p.toValue(Number(range.value)));
    showText();
    mark(text, false);
  });
  text.addEventListener('input', () => {
    const v = p.time ? parseDuration(text.value) : Number(text.value);
    const bad = text.value.trim() === '' || !Number.isFinite(v) || !p.ok(v);
    mark(text, bad);
    if (bad) return;
    set(p, v);
    range.value = p.toSlider(v);
    range.setAttribute('aria-valuetext', writeValue(p, v));
  });
  const label = make('label', { htmlFor: range.id }, `${p.label} `, make('span', { className: 'soft', textContent: p.help }));
  return make('div', { className: 'slider', id: `slider-${p.key}` }, label, text, range);
}

function mark(input, bad) {
  input.classList.toggle('bad', bad);
  input.setAttribute('aria-invalid', bad);
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
    const value = state.proposed[p.key], range = $(`range-${p.key}`), text = $(`text-${p.key}`);
    range.value = p.toSlider(value);
    text.value = writeValue(p, value);
    range.setAttribute('aria-valuetext', text.value);
    mark(text, false);
  }
  showCurves(state.proposed.curves);
  showCurvesOrNot();
}

// propose redraws at once and compares a moment later, so that a moving slider does not send a
// request at each step.
function propose() {
  draw($('curve'), state.live, state.proposed);
  const p = state.proposed;
  $('halves').textContent = p.curves.length ? `${short(factor(p, 0))} now, ${short(factor(p, HOUR))} at 1 h, ${short(factor(p, DAY))} at 1 d`
    : `${short(p.decay)} at an age of ${span(p.offset + p.scale)}`;
  const same = JSON.stringify(toAPI(p)) === JSON.stringify(toAPI(state.live));
  $('live').disabled = same;
  $('save').disabled = same;
  outdate();
  clearTimeout(state.timer);
  state.timer = setTimeout(compare, 200);
}

// --- lists and figures -----------------------------------------------------------

const readers = () => readersOf($('whose').elements.agent.value);

// outdate marks the displayed results as outdated and aborts the pending requests: the server
// processes few comparisons at once.
function outdate() {
  document.querySelector('main').classList.add('stale');
  state.asking?.abort();
}

// compare requests the figures of all readers, and the lists of one.
async function compare() {
  outdate();
  const { agent, at, k } = $('whose').elements;
  const agents = readers();
  agent.setCustomValidity(agents.length > MOST ? `At most ${MOST} readers at once; these are ${agents.length}.` : '');
  mark(agent, !agent.checkValidity());
  if (!$('whose').checkValidity()) return fail(new Error(agent.validationMessage || at.validationMessage || k.validationMessage));
  const turn = ++state.turn;
  if (!agents.includes(state.chosen)) state.chosen = agents[0];
  const body = { a: toAPI(state.live), b: toAPI(state.proposed), k: Number(k.value), agents };
  // The same moment for both calls.
  body.at = Math.floor((at.value ? new Date(at.value).getTime() : Date.now()) / 1000);
  const { signal } = state.asking = new AbortController();
  try {
    const one = admin('POST', '/v1/compare', { ...body, agents: [state.chosen], lists: true }, {}, signal);
    const all = agents.length > 1 ? admin('POST', '/v1/compare', body, {}, signal) : one;
    const [{ data: lists }, { data }] = await Promise.all([one, all]);
    if (turn !== state.turn) return;
    showFigures($('figures'), data);
    showReaders($('readers'), data, state.chosen, choose);
    for (const name of document.querySelectorAll('#lists .whose')) name.textContent = agents.length > 1 ? ` for ${state.chosen}` : '';
    showList($('current'), lists.lists.a, 'a');
    showList($('proposed'), lists.lists.b, 'b');
    if ($('home-of').open) await explainHome(turn, body, signal);
    if (turn !== state.turn) return;
    document.querySelector('main').classList.remove('stale', 'waiting');
    if ($('note').className === 'error') note('');
  } catch (error) {
    if (turn === state.turn && !signal.aborted) fail(error);
  }
}

// explainHome shows the positions of the chosen reader's home. It is requested only when they are
// displayed: not every server has posts, and it costs as much as several refreshes.
async function explainHome(turn, { b, k, at }, signal) {
  const { data } = await admin('POST', '/v1/explain', { agent_id: state.chosen, feed: 'home', limit: k, ranking: b, at }, {}, signal);
  if (turn === state.turn) showHome($('home'), data);
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

function showList(list, items, side) {
  list.replaceChildren(...items.map((item) => {
    const row = make('li', {},
      make('span', { className: 'rank', textContent: item.rank }),
      movement(item, side),
      make('span', { textContent: item.title || item.id }),
      make('span', { className: 'factors', textContent: factors(item) }));
    row.dataset.id = item.id;
    return row;
  }));
  if (items.length === 0) list.append(make('li', { textContent: 'Nothing for this reader at that time.' }));
}

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

// --- putting it to work ------------------------------------------------------------

// ask requires a name, a reason, and a confirmation of the change.
const ask = (title, rows) => confirmed($('why-form'), title, rows);

// put sends a change.
async function put(method, path, body, by, done, reset) {
  try {
    // If-Match prevents overwriting concurrent changes.
    const { data } = await admin(method, path, { ...body, ...by }, state.etag ? { 'If-Match': state.etag } : {});
    $('why-form').elements.why.value = '';
    await load(reset);
    note([done, ...(data.notes ?? [])].join(' '));
  } catch (error) {
    const changed = error instanceof Refused && error.status === 412;
    if (changed) await load();
    fail(error);
  }
}

const change = (body, by, done) => put('PUT', '/v1/ranking', body, by, done);
const toLive = (values) => differences(state.parameters, state.live, values);

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

async function end(experiment) {
  const rows = [['share of the readers', percent(experiment.share), 'none'], ...differences(state.parameters, fromAPI(experiment.ranking), state.live)];
  const by = await ask(`End the experiment ${experiment.name}?`, rows);
  if (by) change({ experiments: state.version.experiments.filter((x) => x.name !== experiment.name) }, by, `${experiment.name} has ended.`);
}

const experimentsText = (list) => list.map((x) => `${x.name} ${percent(x.share)}`).join(', ') || 'none';

async function revert(v) {
  const rows = toLive({ ...state.live, ...fromAPI(v.ranking) });
  const [was, is] = [experimentsText(state.version.experiments), experimentsText(v.experiments)];
  if (was !== is) rows.push(['experiments', was, is]);
  const by = await ask(`Go back to version ${v.version}?`, rows);
  if (by) put('POST', '/v1/ranking/revert', { version: v.version }, by, `Version ${v.version} is live again.`, true);
}

function setButton(text, ranking) {
  const b = make('button', { textContent: text });
  b.addEventListener('click', () => {
    state.proposed = fromAPI(ranking);
    showSliders();
    propose();
    scrollTo({ top: 0 });
  });
  return b;
}

async function loadReport() {
  const { data } = await admin('GET', '/v1/ranking/report?days=7');
  const number = (text) => make('td', { className: 'number', textContent: text });
  const head = ['Variant', 'Share ', 'Shown ', 'Clicks ', 'Click-through (95 %) ', 'Against control', 'Median age ', 'Authors ', 'Readers ', 'Actions'];
  const rows = data.variants.map((v) => {
    const experiment = state.version.experiments.find((x) => x.name === v.name);
    const actions = make('td');
    if (experiment) {
      const drop = make('button', { textContent: 'End' });
      drop.addEventListener('click', () => end(experiment));
      actions.append(setButton('Look at it', experiment.ranking), ' ', drop);
    }
    return make('tr', {}, make('td', { textContent: v.name }), number(v.live ? percent(v.share) : 'ended'),
      number(v.impressions), number(v.clicks),
      number(v.impressions ? `${(100 * v.ctr).toFixed(2)} % (${(100 * v.ctr_interval.low).toFixed(2)}–${(100 * v.ctr_interval.high).toFixed(2)})` : '–'),
      make('td', { textContent: verdict(v.difference) }),
      number(v.median_age_seconds == null ? '–' : age(v.median_age_seconds)), number(v.authors), number(v.agents), actions);
  });
  $('report').replaceChildren(make('thead', {}, make('tr', {}, ...heads(head))), make('tbody', {}, ...rows));
}

function verdict(d) {
  if (!d) return '';
  if (d.verdict === 'too few') return 'too few to say';
  if (d.verdict === 'unbalanced') return 'not to be believed: its numbers of readers contradict its share';
  const points = `${d.ctr > 0 ? '+' : '−'}${Math.abs(100 * d.ctr).toFixed(2)} points`;
  return `${points}, ${d.verdict === 'significant' ? '' : 'not '}significant (p = ${d.p.toPrecision(2)})`;
}

// heads returns column headings; those of numbers end with a space.
const heads = (titles) => titles.map((h) => make('th', { textContent: h.trim(), className: h.endsWith(' ') ? 'number' : '' }));

// versionText describes the changes of a version from the one before it.
function versionText(v, before) {
  const is = fromAPI(v.ranking);
  if (!before) return decayText(is);
  return differences(state.parameters, fromAPI(before.ranking), is).map(([name, was, now]) => `${name} ${was} → ${now}`).join(', ')
    || 'the ranking stays';
}

async function loadHistory() {
  const { data } = await admin('GET', '/v1/ranking/history?limit=10');
  const rows = data.versions.map((v, i) => {
    const back = make('button', { textContent: 'Revert to it' });
    back.disabled = v.version === state.version.version || v.version === 0;
    back.addEventListener('click', () => revert(v));
    const what = versionText(v, data.versions[i + 1]) + v.experiments.map((x) => `; ${x.name} ${percent(x.share)}`).join('');
    return make('tr', {}, make('td', { className: 'number', textContent: v.version }),
      make('td', { textContent: v.at ? new Date(v.at).toLocaleString() : '' }), make('td', { textContent: v.by }),
      make('td', { className: 'text', textContent: v.why }), make('td', { className: 'text', textContent: what }),
      make('td', {}, setButton('Look at it', v.ranking), ' ', back));
  });
  const head = ['Version ', 'When', 'By', 'Why', 'Changes', 'Actions'];
  $('versions').replaceChildren(make('thead', {}, make('tr', {}, ...heads(head))), make('tbody', {}, ...rows));
}

// --- messages ------------------------------------------------------------------------

function note(text) { $('note').textContent = text; $('note').className = ''; }

// fail shows an error and focuses its field, if any.
function fail(error, field) {
  document.querySelector('main').classList.remove('waiting');
  field?.focus();
  const closed = error instanceof Refused && (error.status === 401 || error.status === 403);
  if (closed) $('sign-in').hidden = false;
  $('note').textContent = closed ? `The lab is for admins: ${error.message}.` : error.message;
  $('note').className = 'error';
}

async function load(reset) {
  try {
    await loadRanking(reset);
    await Promise.all([loadReport(), loadHistory()]);
  } catch (error) {
    fail(error);
  }
}

// onPhone puts the lists before the sliders if there is no room for both, also in the order of
// keyboards and screen readers.
function onPhone() {
  const phone = matchMedia('(max-width: 46rem)');
  const place = () => $('tune')[phone.matches ? 'before' : 'after']($('compare'));
  phone.addEventListener('change', place);
  place();
}

function start() {
  onPhone();
  $('reset').addEventListener('click', () => { state.proposed = copy(state.live); showSliders(); propose(); });
  for (const b of document.querySelectorAll('[data-preset]')) b.addEventListener('click', () => usePreset(b.dataset.preset));
  buildCurves(() => state.proposed.curves, () => { showCurvesOrNot(); propose(); });
  $('draw').addEventListener('click', drawReaders);
  $('home-of').addEventListener('toggle', (e) => { if (e.target.open) propose(); });
  $('agents').replaceChildren(...Array.from({ length: 8 }, (_, i) => make('option', { value: `u_${i + 1}` })));
  $('whose').addEventListener('input', () => propose());
  $('whose').addEventListener('submit', (e) => e.preventDefault());
  $('why-form').addEventListener('submit', (e) => e.preventDefault());
  $('live').addEventListener('click', makeLive);
  $('save').addEventListener('click', saveVariant);
  $('sign-in').addEventListener('submit', (e) => {
    e.preventDefault();
    ofTab.set('admin', e.target.elements.token.value.trim());
    e.target.reset();
    e.target.hidden = true;
    note('');
    load();
  });
  load();
}

start();
