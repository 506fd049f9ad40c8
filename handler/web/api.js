// What the pages share: calls of the API, and how times and numbers are
// written.

export class Refused extends Error {
  constructor(status, code, message) { super(message); this.status = status; this.code = code; }
}

// call answers {data, etag}, or throws Refused with what the server says. signal ends it.
export async function call(method, path, { body, headers = {}, signal } = {}) {
  const response = await fetch(path, {
    method, signal, headers: { 'Content-Type': 'application/json', ...headers }, body: body && JSON.stringify(body),
  });
  const answer = await response.json().catch(() => ({ code: -1, msg: `the server answered ${response.status}` }));
  if (answer.code !== 0) throw new Refused(response.status, answer.code, answer.msg);
  return { data: answer.data, etag: response.headers.get('ETag') };
}

export function age(seconds) {
  for (const [unit, size] of [['d', 86400], ['h', 3600], ['min', 60]]) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`;
  }
  return `${Math.max(0, Math.floor(seconds))} s`;
}

export const short = (x) => (x === 0 ? '0' : Math.abs(x) >= 0.01 ? x.toFixed(2).replace(/\.?0+$/, '') : x.toExponential(0));

// make builds an element with properties and children.
export function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
