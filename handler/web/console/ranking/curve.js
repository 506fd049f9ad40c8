// The decay, computed like on the server, and its chart.

import { short } from '/assets/api.js';
import { shape } from '/assets/console/charts.js';
import { fill } from '/assets/console/tables.js';

// curvesOf returns the curves that are added: one Gaussian, unless there are others.
export function curvesOf({ curves, scale, offset, decay }) {
  return curves.length ? curves : [{ shape: 'gauss', scale, offset, decay, weight: 1 }];
}

// part returns the contribution of a curve at an age.
export function part({ shape, scale, offset, decay, weight }, seconds) {
  const x = Math.max(0, Math.abs(seconds) - offset);
  switch (shape) {
    case 'gauss': return weight * Math.exp((x * x * Math.log(decay)) / (scale * scale));
    case 'exp': return weight * Math.exp((x * Math.log(decay)) / scale);
    case 'linear': return weight * Math.max(0, 1 - (x * (1 - decay)) / scale);
  }
  return weight;
}

export function factor(p, seconds) {
  return Math.max(p.floor, curvesOf(p).reduce((sum, c) => sum + part(c, seconds), 0));
}

// reach returns the age at which a curve has almost fully decayed.
function reach({ shape, scale, offset, decay }) {
  switch (shape) {
    case 'gauss': return offset + scale * Math.sqrt(Math.log(0.01) / Math.log(decay));
    case 'exp': return offset + scale * (Math.log(0.02) / Math.log(decay));
    case 'linear': return offset + scale / (1 - decay);
  }
  return 0;
}

// LEFT has room for a label in the larger font of a phone.
const W = 640, H = 300, LEFT = 60, BOTTOM = 34, TOP = 12, RIGHT = 14;

// draw shows both decays over the ages at which either still changes, and the curves that the
// proposed one adds. Several curves fall within minutes and within days, so the axis then gives
// young ages more room.
export function draw(svg, current, proposed) {
  const all = [...curvesOf(current), ...curvesOf(proposed)];
  const far = niceSpan(Math.max(60, ...all.map(reach)));
  const top = Math.max(1, factor(current, 0), factor(proposed, 0));
  const power = all.length > 2 ? 3 : 1;
  const age = (share) => far * share ** power;
  const x = (seconds) => LEFT + (seconds / far) ** (1 / power) * (W - LEFT - RIGHT);
  const y = (f) => TOP + (1 - f / top) * (H - TOP - BOTTOM);
  const line = (value) => {
    let d = '';
    for (let i = 0; i <= 240; i++) {
      const s = age(i / 240);
      d += `${i ? 'L' : 'M'}${x(s).toFixed(1)} ${y(value(s)).toFixed(1)}`;
    }
    return d;
  };
  const parts = [];
  for (const f of [0, 0.25, 0.5, 0.75, 1].map((share) => share * top)) {
    parts.push(shape('line', { class: 'grid', x1: LEFT, x2: W - RIGHT, y1: y(f), y2: y(f) }));
    parts.push(shape('text', { x: LEFT - 6, y: y(f) + 4, 'text-anchor': 'end' }, +f.toPrecision(2)));
  }
  for (let i = 0; i <= 6; i++) {
    const s = age(i / 6);
    parts.push(shape('text', { x: x(s), y: H - 12, 'text-anchor': i === 6 ? 'end' : 'middle' }, span(s)));
  }
  parts.push(shape('path', { class: 'current', d: line((s) => factor(current, s)) }));
  for (const c of proposed.curves) parts.push(shape('path', { class: 'part', d: line((s) => part(c, s)) }));
  parts.push(shape('path', { class: 'proposed', d: line((s) => factor(proposed, s)) }));
  if (!proposed.curves.length) {
    const at = proposed.offset + proposed.scale;
    parts.push(shape('circle', { class: 'mark', cx: x(at), cy: y(Math.max(proposed.decay, proposed.floor)), r: 5 }));
  }
  svg.setAttribute('viewBox', `0 0 ${W} ${H}`);
  svg.replaceChildren(...parts);
}

// tabulate shows the same decays as figures.
export function tabulate(table, current, proposed) {
  const rows = [0, 600, 3600, 6 * 3600, 86400, 3 * 86400, 7 * 86400].map((s) => [span(s), short(factor(current, s)), short(factor(proposed, s))]);
  fill(table, ['Age', 'Current ', 'Proposed '], rows);
}

function niceSpan(seconds) {
  for (const unit of [60, 3600, 86400]) {
    for (const n of [1, 2, 3, 6, 12, 18]) if (n * 6 * unit >= seconds && n * 6 * unit < 60 * unit * (unit === 86400 ? 1e3 : 48)) return n * 6 * unit;
  }
  return Math.ceil(seconds / (6 * 86400)) * 6 * 86400;
}

// span formats an age: 3.4 d.
export function span(seconds) {
  if (seconds === 0) return 'now';
  if (seconds >= 2 * 86400) return `${+(seconds / 86400).toFixed(1)} d`;
  if (seconds >= 3600) return `${+(seconds / 3600).toFixed(1)} h`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  return `${Math.round(seconds / 60)} min`;
}

// Durations in the server's format: 36h, 1h30m, 90s.
const UNITS = { h: 3600, m: 60, s: 1, ms: 0.001 };

export function parseDuration(text) {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)(ms|[hms])/g)];
  if (parts.length === 0 && text.trim() === '0') return 0;
  if (parts.map((p) => p[0]).join('') !== text.trim() || parts.length === 0) return NaN;
  return parts.reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit], 0);
}

export function writeDuration(seconds) {
  const whole = Math.round(seconds);
  const h = Math.floor(whole / 3600), m = Math.floor((whole % 3600) / 60), s = whole % 60;
  return `${h ? `${h}h` : ''}${m ? `${m}m` : ''}${s || !whole ? `${s}s` : ''}`;
}
