// The overview: what the servers did in the last hour and in the last seven days.

import { age, make, short } from '/assets/api.js';
import { admin, fail, failed, note } from '/assets/console/calls.js';
import { line, point, pointed } from '/assets/console/charts.js';
import { runbook, SECTIONS } from '/assets/console/runbook.js';
import { fill } from '/assets/console/tables.js';
import { showAges, showIncidents } from '/assets/console/overview/tables.js';

const $ = (id) => document.getElementById(id);

const EVERY = 30_000; // ms between two readings

const rate = (x) => `${short(x)} /s`;
const percent = (x) => (x > 0 && x < 1e-4 ? '< 0.01 %' : `${short(100 * x)} %`);
const seconds = (x) => (x < 1 ? `${short(1000 * x)} ms` : x < 60 ? `${short(x)} s` : age(x));
const count = (x) => Math.round(x).toLocaleString();

// FIGURES has the name of each figure, how it is written, and from which value on it is bad.
const FIGURES = {
  refreshes: ['Refreshes', rate],
  load_mores: ['Next pages', rate],
  p50: ['Half of the calls within', seconds],
  p99: ['99 % of the calls within', seconds, 0.5],
  errors: ['Failed calls', percent, 0.01],
  degraded: ['Degraded pages', percent, 0.01],
  short: ['Short pages', percent, 0.2],
  shown: ['Items shown', count],
  clicks: ['Clicks', count],
  click_rate: ['Clicks for each item shown', percent],
  readers: ['Distinct readers of the day', count],
  added: ['New items in the hour', count],
  filter_fill: ['Fill of the day’s filter', percent, 0.9],
  queue_delay: ['Delay of the job queue', seconds, 60],
  streams: ['Live streams', count],
  servers: ['Servers', count],
};

// ASKED are figures of stores, which may not answer.
const ASKED = ['readers', 'added'];

let points = [];
let shown = []; // the figures, by name
let charts = {};
let newest = true; // the newest point is shown, and stays so

const write = (key, p) => (p?.[key] == null ? '–' : FIGURES[key][1](p[key]));
const span = () => $('window').elements.span.value;

// when returns the time of a point.
const when = (p) => new Date(p.begin).toLocaleString(undefined, span() === 'minutes' ? { timeStyle: 'short' } : { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

// read shows the figures of one point beside all charts.
function read(i) {
  const p = points[i], n = points.length;
  newest = i === n - 1;
  $('at').value = i;
  $('when').textContent = p ? when(p) : '';
  $('at').setAttribute('aria-valuetext', $('when').textContent);
  for (const [key, { figure, output, svg }] of Object.entries(charts)) {
    output.textContent = write(key, p);
    const bad = p?.[key] != null && p[key] > (FIGURES[key][2] ?? Infinity);
    figure.classList.toggle('bad', bad);
    if (SECTIONS[key]) figure.querySelector('a').hidden = !bad;
    point(svg, i, n);
  }
}

function drawAll() {
  charts = Object.fromEntries(shown.map((key) => {
    const name = FIGURES[key][0], values = points.map((p) => p[key]), most = Math.max(...values.filter((v) => v != null), 0);
    const svg = line(values, `${name}: at most ${FIGURES[key][1](most)}; the table has all points`);
    const output = make('output', { htmlFor: 'at' });
    const figure = make('figure', {}, make('figcaption', {}, make('span', { textContent: name }), output, ...(SECTIONS[key] ? [runbook(key, `What to do about ${name.toLowerCase()}`)] : [])), svg);
    svg.addEventListener('pointermove', (e) => read(pointed(svg, e, points.length)));
    return [key, { figure, output, svg }];
  }));
  $('charts').replaceChildren(...Object.values(charts).map((c) => c.figure));
}

// tabulate shows all points, newest first.
function tabulate() {
  const head = ['Time', ...shown.map((key) => `${FIGURES[key][0]} `)];
  fill($('figures-table'), head, points.toReversed().map((p) => [when(p), ...shown.map((key) => write(key, p))]));
}

function showServers(servers, at) {
  const since = (time) => age((new Date(at) - new Date(time)) / 1000);
  fill($('servers'), ['Server', 'State', 'Running for ', 'Counted before ', 'Version'], servers.map((s) => [
    s.name, s.down.length ? make('td', { className: 'error', textContent: `does not reach ${s.down.join(', ')}` }) : 'serves',
    since(s.started), since(s.counted), make('td', { className: 'text', textContent: s.version })]), 'No server has counted within the last three minutes.');
}

// withAsked adds the figures of stores to points: of the day, and of the hour.
function withAsked(list) {
  const readers = new Map(data.days.map((d) => [d.day, d.readers])), added = new Map((data.items?.hours ?? []).map((h) => [h.begin, h.items]));
  return list.map((p) => ({ ...p, readers: readers.get(p.begin.slice(0, 10)), added: span() === 'hours' ? added.get(p.begin) : null }));
}

let data = null;

function showAll() {
  const at = Number($('at').value);
  points = withAsked(data[span()]);
  shown = Object.keys(FIGURES).filter((key) => !ASKED.includes(key) || points.some((p) => p[key] != null));
  const empty = points.length === 0;
  $('none').hidden = !empty;
  for (const id of ['charts', 'as-table']) $(id).hidden = empty;
  $('at').max = Math.max(0, points.length - 1);
  drawAll();
  tabulate();
  showIncidents(data);
  showAges(data.items);
  showServers(data.servers, data.at);
  read(newest ? points.length - 1 : Math.min(at, points.length - 1));
}

// show fills the view, and reads the figures again every half minute while the page is visible.
export async function show(_, signal) {
  const load = async () => {
    ({ data } = await admin('GET', '/v1/overview', undefined, {}, signal));
    showAll();
  };
  newest = true;
  $('window').addEventListener('submit', (e) => e.preventDefault());
  $('window').addEventListener('change', (e) => {
    if (e.target.name !== 'span' || !data) return;
    newest = true;
    showAll();
  });
  $('at').addEventListener('input', () => read(Number($('at').value)));
  await load();
  const timer = setInterval(() => {
    if (!document.hidden) load().then(() => { if (failed()) note(''); }).catch((error) => { if (!signal.aborted) fail(error); });
  }, EVERY);
  signal.addEventListener('abort', () => clearInterval(timer));
}
