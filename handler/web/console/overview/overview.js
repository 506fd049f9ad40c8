// The overview: what the servers did in the last hour and in the last seven days.

import { age, make, short } from '/assets/api.js';
import { admin, fail, failed, note } from '/assets/console/calls.js';
import { line, point, pointed } from '/assets/console/charts.js';
import { fill } from '/assets/console/tables.js';

const $ = (id) => document.getElementById(id);

const EVERY = 30_000; // ms between two readings

const rate = (x) => `${short(x)} /s`;
const percent = (x) => `${short(100 * x)} %`;
const seconds = (x) => (x < 1 ? `${short(1000 * x)} ms` : x < 60 ? `${short(x)} s` : age(x));
const count = (x) => x.toLocaleString();

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
  queue_delay: ['Delay of the job queue', seconds, 60],
  streams: ['Live streams', count],
  servers: ['Servers', count],
};

let points = [];
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
    figure.classList.toggle('bad', p?.[key] != null && p[key] > (FIGURES[key][2] ?? Infinity));
    point(svg, i, n);
  }
}

function drawAll() {
  charts = Object.fromEntries(Object.entries(FIGURES).map(([key, [name]]) => {
    const values = points.map((p) => p[key]), most = Math.max(...values.filter((v) => v != null), 0);
    const svg = line(values, `${name}: at most ${FIGURES[key][1](most)}; the table has all points`);
    const output = make('output', { htmlFor: 'at' });
    const figure = make('figure', {}, make('figcaption', {}, make('span', { textContent: name }), output), svg);
    svg.addEventListener('pointermove', (e) => read(pointed(svg, e, points.length)));
    return [key, { figure, output, svg }];
  }));
  $('charts').replaceChildren(...Object.values(charts).map((c) => c.figure));
}

// tabulate shows all points, newest first.
function tabulate() {
  const head = ['Time', ...Object.values(FIGURES).map(([name]) => `${name} `)];
  fill($('figures-table'), head, points.toReversed().map((p) => [when(p), ...Object.keys(FIGURES).map((key) => write(key, p))]));
}

function showServers(servers, at) {
  const since = (time) => age((new Date(at) - new Date(time)) / 1000);
  fill($('servers'), ['Server', 'State', 'Running for ', 'Counted before ', 'Version'], servers.map((s) => [
    s.name, s.down.length ? make('td', { className: 'error', textContent: `does not reach ${s.down.join(', ')}` }) : 'serves',
    since(s.started), since(s.counted), make('td', { className: 'text', textContent: s.version })]), 'No server has counted within the last three minutes.');
}

let data = null;

function showAll() {
  const at = Number($('at').value);
  points = data[span()];
  const empty = points.length === 0;
  $('none').hidden = !empty;
  for (const id of ['charts', 'as-table']) $(id).hidden = empty;
  $('at').max = Math.max(0, points.length - 1);
  drawAll();
  tabulate();
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
