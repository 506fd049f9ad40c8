// The decay lab: propose other parameters, see what they do to a real reader's
// list, then try them on a share of the readers or make them live.

import { Refused, age, call, make, short } from '/assets/api.js';
import { buildCurves, curvesFromAPI, curvesText, curvesToAPI, showCurves } from '/assets/lab/curves.js';
import { draw, factor, parseDuration, span, writeDuration } from '/assets/lab/curve.js';

const $ = (id) => document.getElementById(id);
const HOUR = 3600, DAY = 24 * HOUR;

// Sliders move evenly over what is multiplied, from low to high; offset has a
// zero of its own at the left end.
const log = (low, high, zero) => ({
  toValue: (p) => (zero && p === 0 ? 0 : low * (high / low) ** (p / 1000)),
  toSlider: (v) => (v <= (zero ? 0 : low) ? 0 : Math.round(1000 * Math.log(Math.max(v, low) / low) / Math.log(high / low))),
});
const even = (low, high) => ({
  toValue: (p) => low + ((high - low) * p) / 1000,
  toSlider: (v) => Math.round((1000 * (v - low)) / (high - low)),
});
// A step of a slider must be seen, so only as round as that allows.
const roundTime = (s) => { const to = s >= 2 * DAY ? 1800 : s >= 2 * HOUR ? 300 : 60; return Math.round(s / to) * to; };

// How pages are dealt. A decay of 1 is off.
const within = (low, high) => (v) => v >= low && v <= high;
const spread = (key, label, what) => [
  { key: `${key}Decay`, label: `${label} decay`, help: `each item of a page ${what} counts this much of the one before; 1: off`, dealt: within(1e-9, 1), ...even(0.01, 1) },
  { key: `${key}Floor`, label: `${label} floor`, help: 'but no less than this', dealt: within(0, 1), ...even(0, 1) },
];
const DIVERSITY = [
  ...spread('author', 'Author', 'by one author'), ...spread('site', 'Site', 'of one site'), ...spread('tag', 'Tag', 'with the same first tag'),
  { key: 'sameStory', label: 'Same story', help: 'titles that share this part of their words; 0 and 1: off', dealt: within(0, 1), ...even(0, 1) },
];

const PARAMETERS = [
  { key: 'offset', label: 'Offset', help: 'younger than this, nothing decays', gaussian: true, time: true, ...log(60, 14 * DAY, true) },
  { key: 'scale', label: 'Scale', help: 'how much later the factor is “decay”', gaussian: true, time: true, ...log(600, 60 * DAY) },
  { key: 'decay', label: 'Decay', help: 'the factor at offset + scale', gaussian: true, ...even(0.01, 0.99) },
  { key: 'weight', label: 'Popularity weight', help: '0: popularity does not count', ...even(0, 3) },
  { key: 'weight_2h', label: 'Readers, 2 hours', help: 'weight of who clicked or liked of late', ...even(0, 3) },
  { key: 'weight_2d', label: 'Readers, 2 days', help: 'weight of who did so in two days', ...even(0, 3) },
  { key: 'summary', label: 'Keywords in summaries', help: 'part of its weight that a keyword adds there', ...even(0, 1) },
  ...DIVERSITY,
];

const state = { version: null, etag: '', live: null, proposed: null, turn: 0, timer: 0 };

// --- the API -----------------------------------------------------------------

async function admin(method, path, body, headers = {}) {
  const token = sessionStorage.getItem('admin');
  if (token) headers['X-Admin-Token'] = token;
  return call(method, path, { body, headers });
}

// Beside curves the Gaussian is what the server puts in their place.
const fromAPI = (r) => ({
  scale: parseDuration(r.decay.scale ?? '24h'), offset: parseDuration(r.decay.offset ?? '1h'), decay: r.decay.decay ?? 0.5,
  curves: curvesFromAPI(r.decay.curves ?? []), floor: r.decay.floor, weight: r.popularity.weight,
  weight_2h: r.popularity.weight_2h, weight_2d: r.popularity.weight_2d, base: r.base,
  summary: r.keywords.summary, ...dealing(r.diversity ?? {}),
});
// A ranking from before there was diversity has none: off.
const dealing = ({ author = {}, site = {}, tag = {}, same_story: sameStory = 0 }) => ({
  authorDecay: author.decay ?? 1, authorFloor: author.floor ?? 0, siteDecay: site.decay ?? 1, siteFloor: site.floor ?? 0,
  tagDecay: tag.decay ?? 1, tagFloor: tag.floor ?? 0, sameStory,
});
const toAPI = (p) => ({
  decay: p.curves.length ? { curves: curvesToAPI(p.curves), floor: p.floor }
    : { scale: writeDuration(p.scale), offset: writeDuration(p.offset), decay: p.decay, floor: p.floor },
  popularity: { weight: p.weight, weight_2h: p.weight_2h, weight_2d: p.weight_2d }, base: p.base, keywords: { summary: p.summary },
  diversity: {
    author: { decay: p.authorDecay, floor: p.authorFloor }, site: { decay: p.siteDecay, floor: p.siteFloor },
    tag: { decay: p.tagDecay, floor: p.tagFloor }, same_story: p.sameStory,
  },
});
const copy = (p) => structuredClone(p);

async function loadRanking() {
  const { data, etag } = await admin('GET', '/v1/ranking');
  Object.assign(state, { version: data, etag, live: fromAPI(data.ranking) });
  state.proposed ??= copy(state.live);
  $('version').textContent = data.version ? `version ${data.version}, by ${data.by}` : 'from the configuration';
  showSliders();
  propose();
}

// --- sliders -------------------------------------------------------------------

function buildSliders() {
  const dealt = make('details', {}, make('summary', { textContent: 'Variety of a page' }));
  for (const p of PARAMETERS) {
    const range = make('input', { type: 'range', min: 0, max: 1000, step: 1, id: `range-${p.key}` });
    const text = make('input', { type: 'text', id: `text-${p.key}`, size: 8, spellcheck: false });
    text.setAttribute('aria-label', `${p.label}, exactly`);
    range.addEventListener('input', () => {
      const v = p.toValue(Number(range.value));
      set(p, p.time ? (p.key === 'offset' ? roundTime(v) : Math.max(60, roundTime(v))) : Number(v.toFixed(2)));
      text.value = write(p);
    });
    text.addEventListener('input', () => {
      const v = p.time ? parseDuration(text.value) : Number(text.value);
      const bad = !Number.isFinite(v) || v < 0 || (p.key === 'scale' && v < 1) || (p.key === 'decay' && !(v > 0 && v < 1)) || (p.key === 'summary' && v > 1) || (p.dealt && !p.dealt(v)) || text.value.trim() === '';
      text.classList.toggle('bad', bad);
      text.setAttribute('aria-invalid', bad);
      if (bad) return;
      set(p, v);
      range.value = p.toSlider(v);
    });
    const label = make('label', { htmlFor: range.id }, `${p.label} `, make('span', { className: 'soft', textContent: p.help }));
    (p.dealt ? dealt : $('sliders')).append(make('div', { className: 'slider', id: `slider-${p.key}` }, label, text, range));
  }
  $('sliders').append(dealt);
  $('reset').addEventListener('click', () => { state.proposed = copy(state.live); showSliders(); propose(); });
  for (const b of document.querySelectorAll('[data-preset]')) b.addEventListener('click', () => usePreset(b.dataset.preset));
  buildCurves(() => state.proposed.curves, () => { showCurvesOrNot(); propose(); });
}

// usePreset asks the server what a preset is.
async function usePreset(name) {
  const body = { b: `curves=${name}`, agents: [$('whose').elements.agent.value.trim() || 'u_1'], k: 1 };
  try {
    const { data } = await admin('POST', '/v1/compare', body);
    const { scale, offset, decay, curves, floor } = fromAPI(data.b);
    Object.assign(state.proposed, { scale, offset, decay, curves, floor });
    showSliders();
    propose();
  } catch (error) { fail(error); }
}

// showCurvesOrNot says which of sliders and curves count.
function showCurvesOrNot() {
  const n = state.proposed.curves.length;
  for (const p of PARAMETERS) if (p.gaussian) $(`slider-${p.key}`).classList.toggle('unused', n > 0);
  $('curves-help').textContent = n ? 'They are added. A move of offset, scale or decay puts one Gaussian in their place.'
    : 'None: the decay is one Gaussian, by offset, scale and decay.';
  $('parts').hidden = n === 0;
}

const write = (p) => (p.time ? writeDuration(state.proposed[p.key]) : String(state.proposed[p.key]));

function set(p, value) {
  state.proposed[p.key] = value;
  if (p.gaussian && state.proposed.curves.length) {
    state.proposed.curves = [];
    showCurves([]);
    showCurvesOrNot();
    note('One Gaussian is in the place of the curves.');
  }
  propose();
}

function showSliders() {
  for (const p of PARAMETERS) {
    $(`range-${p.key}`).value = p.toSlider(state.proposed[p.key]);
    $(`text-${p.key}`).value = write(p);
    $(`text-${p.key}`).classList.remove('bad');
  }
  showCurves(state.proposed.curves);
  showCurvesOrNot();
}

// propose draws at once and compares a moment later, so that a moving slider
// does not ask the server at each step.
function propose() {
  draw($('curve'), state.live, state.proposed);
  const p = state.proposed;
  $('halves').textContent = p.curves.length ? `${short(factor(p, 0))} now, ${short(factor(p, HOUR))} at 1 h, ${short(factor(p, DAY))} at 1 d`
    : `${short(p.decay)} at an age of ${span(p.offset + p.scale)}`;
  const same = JSON.stringify(toAPI(p)) === JSON.stringify(toAPI(state.live));
  $('live').disabled = same;
  $('save').disabled = same;
  document.querySelector('main').classList.add('stale');
  clearTimeout(state.timer);
  state.timer = setTimeout(compare, 200);
}

// --- lists and figures -----------------------------------------------------------

async function compare() {
  const { agent, at, k } = $('whose').elements;
  if (!$('whose').checkValidity()) return;
  const turn = ++state.turn;
  const body = { a: toAPI(state.live), b: toAPI(state.proposed), agents: [agent.value.trim()], k: Number(k.value), lists: true };
  if (at.value) body.at = Math.floor(new Date(at.value).getTime() / 1000);
  try {
    const { data } = await admin('POST', '/v1/compare', body);
    if (turn !== state.turn) return;
    showFigures(data.per_agent[0], data.k);
    showList($('current'), data.lists.a, 'a');
    showList($('proposed'), data.lists.b, 'b');
    document.querySelector('main').classList.remove('stale');
    note('');
  } catch (error) {
    if (turn === state.turn) fail(error);
  }
}

const percent = (x) => (x == null ? '–' : `${(100 * x).toFixed(x > 0 && x < 0.1 ? 1 : 0)} %`);

function showFigures(f, k) {
  const figures = [
    [`Overlap of ${k}`, percent(f.overlap), 'items that are in both lists'],
    ['RBO', short(f.rbo), 'rank-biased overlap: 1 is the same list, the top counts most'],
    ['Kendall’s tau', f.kendall_tau == null ? '–' : short(f.kendall_tau), 'order of the items in both lists: 1 the same, −1 reversed'],
    ['New in proposed', percent(f.new_share), 'items that are not in the current list'],
    ['Median age', `${f.median_age_a == null ? '–' : age(f.median_age_a)} → ${f.median_age_b == null ? '–' : age(f.median_age_b)}`, ''],
    ['Interests covered', `${percent(f.tag_coverage_a)} → ${percent(f.tag_coverage_b)}`, 'of the reader’s tags, how many the list has'],
  ];
  $('figures').replaceChildren(...figures.map(([name, value, title]) => make('div', { title },
    make('dt', { textContent: name }), make('dd', { textContent: value }))));
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
  return `${age(item.age)} old · relevance ${short(item.relevance)}${gains ? ` (${gains})` : ''} × decay ${short(item.decay)}${popularity} = ${short(item.score)}`;
}

// --- putting it to work ------------------------------------------------------------

async function change(body, done) {
  const { by, why } = $('why-form').elements;
  if (by.value.trim()) body.by = by.value.trim();
  if (why.value.trim()) body.why = why.value.trim();
  try {
    // If-Match: what somebody else has changed meanwhile is not overwritten.
    const { data } = await admin('PUT', '/v1/ranking', body, state.etag ? { 'If-Match': state.etag } : {});
    why.value = '';
    note([done, ...(data.notes ?? [])].join(' '));
  } catch (error) {
    fail(error);
    if (!(error instanceof Refused) || error.status !== 412) return;
  }
  await load();
}

function makeLive() {
  change({ ranking: toAPI(state.proposed) }, 'Live. Every server has it within two seconds.');
}

function saveVariant() {
  const name = $('variant').value.trim();
  if (!name || !$('variant').checkValidity()) return fail(new Error('Give the experiment a name of a–z, 0–9, _ and -.'));
  if (!$('share').checkValidity()) return fail(new Error('The share must be more than 0 and at most 100 %.'));
  const others = state.version.experiments.filter((x) => x.name !== name);
  const mine = { name, share: Number($('share').value) / 100, ranking: toAPI(state.proposed) };
  return change({ experiments: [...others, mine] }, `Saved: ${percent(mine.share)} of the readers are in ${name}.`);
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
  const head = ['Variant', 'Share ', 'Shown ', 'Clicks ', 'Click-through (95 %) ', 'Against control', 'Median age ', 'Authors ', 'Readers ', ''];
  const rows = data.variants.map((v) => {
    const experiment = state.version.experiments.find((x) => x.name === v.name);
    const actions = make('td');
    if (experiment) {
      const drop = make('button', { textContent: 'End' });
      drop.addEventListener('click', () => change({ experiments: state.version.experiments.filter((x) => x.name !== v.name) }, `${v.name} has ended.`));
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
  const points = `${d.ctr > 0 ? '+' : '−'}${Math.abs(100 * d.ctr).toFixed(2)} points`;
  return `${points}, ${d.verdict === 'significant' ? '' : 'not '}significant (p = ${d.p.toPrecision(2)})`;
}

// heads are column titles; those of numbers end with a space.
const heads = (titles) => titles.map((h) => make('th', { textContent: h.trim(), className: h.endsWith(' ') ? 'number' : '' }));

async function loadHistory() {
  const { data } = await admin('GET', '/v1/ranking/history?limit=10');
  const rows = data.versions.map((v) => {
    const revert = make('button', { textContent: 'Revert to it' });
    revert.disabled = v.version === state.version.version || v.version === 0;
    revert.addEventListener('click', async () => {
      try {
        await admin('POST', '/v1/ranking/revert', { version: v.version, by: $('why-form').elements.by.value.trim() || 'admin', why: `back to version ${v.version}` });
        note(`Version ${v.version} is live again.`);
        state.proposed = null;
        await load();
      } catch (error) { fail(error); }
    });
    const p = fromAPI(v.ranking);
    const decay = p.curves.length ? curvesText(p.curves) : `scale ${writeDuration(p.scale)}, offset ${writeDuration(p.offset)}, decay ${p.decay}`;
    const what = `${decay}, weight ${p.weight}`
      + v.experiments.map((x) => `; ${x.name} ${percent(x.share)}`).join('');
    return make('tr', {}, make('td', { className: 'number', textContent: v.version }),
      make('td', { textContent: v.at ? new Date(v.at).toLocaleString() : '' }), make('td', { textContent: v.by }),
      make('td', { className: 'text', textContent: v.why }), make('td', { className: 'text', textContent: what }),
      make('td', {}, setButton('Look at it', v.ranking), ' ', revert));
  });
  const head = ['Version ', 'When', 'By', 'Why', 'Parameters', ''];
  $('versions').replaceChildren(make('thead', {}, make('tr', {}, ...heads(head))), make('tbody', {}, ...rows));
}

// --- what people are told ------------------------------------------------------------

function note(text) { $('note').textContent = text; $('note').className = ''; }

function fail(error) {
  const closed = error instanceof Refused && (error.status === 401 || error.status === 403);
  if (closed) $('sign-in').hidden = false;
  $('note').textContent = closed ? `The lab is for admins: ${error.message}.` : error.message;
  $('note').className = 'error';
}

async function load() {
  try {
    await loadRanking();
    await Promise.all([loadReport(), loadHistory()]);
  } catch (error) {
    fail(error);
  }
}

function start() {
  buildSliders();
  $('agents').replaceChildren(...Array.from({ length: 8 }, (_, i) => make('option', { value: `u_${i + 1}` })));
  $('whose').addEventListener('input', () => propose());
  $('whose').addEventListener('submit', (e) => e.preventDefault());
  $('why-form').addEventListener('submit', (e) => e.preventDefault());
  $('live').addEventListener('click', makeLive);
  $('save').addEventListener('click', saveVariant);
  $('sign-in').addEventListener('submit', (e) => {
    e.preventDefault();
    sessionStorage.setItem('admin', e.target.elements.token.value.trim());
    e.target.reset();
    e.target.hidden = true;
    note('');
    load();
  });
  load();
}

start();
