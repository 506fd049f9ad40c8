// A slider and a text field for each parameter of a ranking.

import { make } from '/assets/api.js';
import { parseDuration } from '/assets/console/ranking/curve.js';
import { writeValue } from '/assets/console/ranking/parameters.js';

const $ = (id) => document.getElementById(id);

// mark shows whether a field's value is invalid.
export function mark(input, bad) {
  input.classList.toggle('bad', bad);
  input.setAttribute('aria-invalid', bad);
}

// buildSliders creates the sliders; those of a group are in a section that is initially closed. set
// is called with a parameter and its new value.
export function buildSliders(parameters, set) {
  const groups = new Map([[undefined, $('sliders')]]);
  for (const p of parameters) {
    if (!groups.has(p.group)) groups.set(p.group, make('details', {}, make('summary', { textContent: p.group })));
    groups.get(p.group).append(slider(p, set));
  }
  $('sliders').append(...[...groups.values()].slice(1));
}

function slider(p, set) {
  const range = make('input', { type: 'range', min: 0, max: 1000, step: 1, id: `range-${p.key}` });
  const text = make('input', { type: 'text', id: `text-${p.key}`, size: 8, spellcheck: false });
  text.setAttribute('aria-label', `${p.label}, exactly`);
  range.addEventListener('input', () => {
    const v = p.toValue(Number(range.value));
    set(p, v);
    text.value = writeValue(p, v);
    range.setAttribute('aria-valuetext', text.value);
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

// showSlider moves a slider to a value.
export function showSlider(p, value) {
  const range = $(`range-${p.key}`), text = $(`text-${p.key}`);
  range.value = p.toSlider(value);
  text.value = writeValue(p, value);
  range.setAttribute('aria-valuetext', text.value);
  mark(text, false);
}

// drawer makes the sliders a drawer at the bottom of a phone, below the lists that they move; there
// the lists also come first for keyboards and screen readers.
export function drawer(signal) {
  const phone = matchMedia('(max-width: 46rem)'), button = $('to-sliders'), tune = $('tune');
  const open = (is) => {
    tune.classList.toggle('open', is);
    button.setAttribute('aria-expanded', is);
    (is ? $('close-sliders') : button).focus();
  };
  const place = () => tune[phone.matches ? 'before' : 'after']($('compare'));
  phone.addEventListener('change', place, { signal });
  place();
  button.addEventListener('click', () => open(!tune.classList.contains('open')));
  $('close-sliders').addEventListener('click', () => open(false));
  tune.addEventListener('keydown', (e) => { if (e.key === 'Escape' && tune.classList.contains('open')) open(false); });
}
