// The curves of a proposed decay, one row of fields each.

import { make } from '/assets/api.js';
import { parseDuration, writeDuration } from '/assets/console/ranking/curve.js';
import { TABLE, within } from '/assets/console/ranking/table.js';

const SHAPES = ['gauss', 'exp', 'linear', 'constant'];
const MOST = 4;
const FIELDS = [
  { key: 'weight', ok: (v) => v > 0 && v <= 1000 },
  ...['scale', 'offset', 'decay'].map((key) => ({ key, time: TABLE[`decay.${key}`].time, ok: within(TABLE[`decay.${key}`]) })),
];

export const curvesFromAPI = (list) => list.map((c) => ({
  shape: c.shape, weight: c.weight, scale: parseDuration(c.scale ?? '24h'), offset: parseDuration(c.offset ?? '0'), decay: c.decay ?? 0.5,
}));

export const curvesToAPI = (list) => list.map(({ shape, weight, scale, offset, decay }) => (shape === 'constant' ? { shape, weight }
  : { shape, weight, scale: writeDuration(scale), offset: writeDuration(offset), decay }));

// curvesText describes the curves in a few words.
export const curvesText = (list) => list.map(({ shape, weight, scale, offset, decay }) => (shape === 'constant' ? `${weight}`
  : `${weight} × ${shape} ${writeDuration(scale)}${offset ? ` after ${writeDuration(offset)}` : ''} to ${decay}`)).join(' + ');

let current = () => [];
let changed = () => {};

// buildCurves sets up the buttons; list returns the curves, and then is called when one of them
// has changed.
export function buildCurves(list, then) {
  current = list;
  changed = then;
  document.getElementById('add-curve').addEventListener('click', () => {
    current().push({ shape: 'exp', weight: 0.5, scale: 86400, offset: 0, decay: 0.5 });
    redraw();
  });
}

function redraw() {
  showCurves(current());
  changed();
}

// showCurves renders the rows.
export function showCurves(list) {
  document.getElementById('add-curve').disabled = list.length >= MOST;
  document.getElementById('curve-rows').replaceChildren(...list.map((curve, i) => {
    const select = make('select', {}, ...SHAPES.map((s) => make('option', { value: s, textContent: s, selected: s === curve.shape })));
    select.setAttribute('aria-label', `Shape of curve ${i + 1}`);
    select.addEventListener('change', () => { curve.shape = select.value; redraw(); });
    const remove = make('button', { type: 'button', textContent: '×', title: 'Remove this curve' });
    remove.setAttribute('aria-label', `Remove curve ${i + 1}`);
    remove.addEventListener('click', () => { current().splice(i, 1); redraw(); });
    const fields = FIELDS.filter((f) => curve.shape !== 'constant' || f.key === 'weight').map((f) => field(curve, f));
    return make('div', { className: 'row' }, select, ...fields, remove);
  }));
}

function field(curve, f) {
  const input = make('input', { type: 'text', spellcheck: false, value: f.time ? writeDuration(curve[f.key]) : String(curve[f.key]) });
  input.addEventListener('input', () => {
    const v = f.time ? parseDuration(input.value) : Number(input.value);
    const bad = input.value.trim() === '' || !Number.isFinite(v) || !f.ok(v);
    input.classList.toggle('bad', bad);
    input.setAttribute('aria-invalid', bad);
    if (bad) return;
    curve[f.key] = v;
    changed();
  });
  return make('label', {}, `${f.key} `, input);
}
