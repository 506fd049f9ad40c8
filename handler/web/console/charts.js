// Charts are SVG. Each has a table with the same figures for who cannot see it.

const SVG = 'http://www.w3.org/2000/svg';

// shape builds an SVG element.
export function shape(name, attributes, text) {
  const e = document.createElementNS(SVG, name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}

// W and H are the size of a line chart, which is stretched to its place.
const W = 300, H = 60;

// line returns a chart of values over time, with gaps for null. Its scale begins at 0.
export function line(values, label) {
  const svg = shape('svg', { class: 'line', viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
  const top = Math.max(...values.filter((v) => v != null), 0) || 1;
  const x = (i) => (values.length > 1 ? (i * W) / (values.length - 1) : W / 2), y = (v) => 2 + (1 - v / top) * (H - 4);
  let d = '', drawing = false;
  values.forEach((v, i) => {
    if (v != null) d += `${drawing ? 'L' : 'M'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`;
    if (v != null && values[i + 1] == null && !drawing) d += 'h0.1'; // a point alone
    drawing = v != null;
  });
  svg.append(shape('line', { class: 'axis', x1: 0, x2: W, y1: H - 1, y2: H - 1 }), shape('path', { d }), shape('line', { class: 'cursor', y1: 0, y2: H }));
  return svg;
}

// point moves the cursor of a line chart to a value.
export function point(svg, i, n) {
  const x = n > 1 ? (i * W) / (n - 1) : W / 2;
  for (const end of ['x1', 'x2']) svg.querySelector('.cursor').setAttribute(end, x);
}

// pointed returns the value that a pointer is at.
export function pointed(svg, event, n) {
  const box = svg.getBoundingClientRect();
  return Math.max(0, Math.min(n - 1, Math.round(((event.clientX - box.left) / box.width) * (n - 1))));
}

// band returns a chart of a value over time with its interval: [value, low, high] for each point. The
// horizontal line is 0.
export function band(points, label) {
  const svg = shape('svg', { class: 'line band', viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
  const far = Math.max(...points.flat().map(Math.abs), 1e-9);
  const x = (i) => (points.length > 1 ? (i * W) / (points.length - 1) : W / 2).toFixed(1), y = (v) => (H / 2 - (v / far) * (H / 2 - 2)).toFixed(1);
  const wide = points.length > 1 ? points : [points[0], points[0]], at = (i) => (points.length > 1 ? x(i) : i ? W / 2 + 6 : W / 2 - 6);
  const along = (part) => wide.map((p, i) => `${at(i)} ${y(p[part])}`);
  svg.append(shape('path', { class: 'interval', d: `M${[...along(1), ...along(2).reverse()].join('L')}Z` }),
    shape('line', { class: 'axis', x1: 0, x2: W, y1: H / 2, y2: H / 2 }), shape('path', { d: `M${along(0).join('L')}` }));
  return svg;
}

// intervals returns a chart of values in order, {x, value, margin} each, with a bar for the margin. write
// formats a value; a value of null has no point.
export function intervals(points, write, label) {
  const wide = 640, high = 260, left = 70, right = 20, top = 14, bottom = 40;
  const svg = shape('svg', { class: 'intervals', viewBox: `0 0 ${wide} ${high}`, role: 'img', 'aria-label': label });
  const some = points.filter((p) => p.value !== null), ends = some.flatMap((p) => [p.value - (p.margin ?? 0), p.value + (p.margin ?? 0)]);
  let [low, up] = [Math.min(...ends, 0), Math.max(...ends)];
  if (!(up > low)) up = low + 1;
  const x = (i) => left + (points.length > 1 ? (i * (wide - left - right)) / (points.length - 1) : (wide - left - right) / 2);
  const y = (v) => top + (1 - (v - low) / (up - low)) * (high - top - bottom);
  for (const v of [low, (low + up) / 2, up]) {
    svg.append(shape('line', { class: 'axis', x1: left, x2: wide - right, y1: y(v), y2: y(v) }), shape('text', { x: left - 8, y: y(v) + 5, 'text-anchor': 'end' }, write(v)));
  }
  const every = Math.ceil(points.length / 7);
  let d = '';
  points.forEach((p, i) => {
    if (i % every === 0) svg.append(shape('text', { x: x(i), y: high - 14, 'text-anchor': i === 0 ? 'start' : i === points.length - 1 ? 'end' : 'middle' }, p.x));
    if (p.value === null) return;
    d += `${d ? 'L' : 'M'}${x(i).toFixed(1)} ${y(p.value).toFixed(1)}`;
    if (p.margin !== null) svg.append(shape('line', { class: 'margin', x1: x(i), x2: x(i), y1: y(p.value - p.margin), y2: y(p.value + p.margin) }));
    svg.append(shape('circle', { cx: x(i), cy: y(p.value), r: 4 }));
  });
  svg.append(shape('path', { d }));
  return svg;
}

// stack returns a bar of parts that are added: [class, value, name]. The longest bar of a list has
// the value most. The label says the same in words.
export function stack(parts, most, label) {
  const svg = shape('svg', { class: 'stack', viewBox: '0 0 100 8', preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
  let x = 0;
  for (const [kind, value] of parts) {
    const width = most > 0 ? (100 * Math.max(0, value)) / most : 0;
    if (width > 0) svg.append(shape('rect', { class: `part-${kind}`, x: x.toFixed(2), y: 0, height: 8, width: width.toFixed(2) }));
    x += width;
  }
  return svg;
}
