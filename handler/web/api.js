// What the pages share: calls of the API, and how times and numbers are
// written.

export class Refused extends Error {
  constructor(status, code, message) { super(message); this.status = status; this.code = code; }
}

const AWAY = 'The server cannot be reached. Check the network, or try again in a moment.';

// call answers {data, etag}, or throws Refused with what the server says. signal ends it.
export async function call(method, path, { body, headers = {}, signal } = {}) {
  const response = await fetch(path, {
    method, signal, headers: { 'Content-Type': 'application/json', ...headers }, body: body && JSON.stringify(body),
  }).catch(away);
  const answer = await response.json().catch((error) => {
    if (response.ok) away(error); // the answer broke off
    return { code: -1, msg: `The server answered ${response.status}. Try again in a moment.` };
  });
  if (answer.code !== 0) throw new Refused(response.status, answer.code, answer.msg);
  return { data: answer.data, etag: response.headers.get('ETag') };
}

function away(error) { throw error.name === 'AbortError' ? error : new Error(AWAY); }

// newID names a call. randomUUID is missing where a page came by plain HTTP from another
// machine.
export function newID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
}

// storage keeps texts in the browser. Where site data is blocked, and where there is no room,
// it keeps them as long as the page is open.
function storage(name) {
  const memory = new Map();
  let real;
  try { real = window[name]; } catch { /* blocked */ }
  return {
    get: (key) => memory.get(key) ?? real?.getItem(key) ?? null,
    // json is what was kept as JSON, null where it cannot be read.
    json(key) {
      try { return JSON.parse(this.get(key)); } catch { return null; }
    },
    set(key, value) {
      memory.delete(key);
      try { real.setItem(key, value); } catch { memory.set(key, value); }
    },
    remove(key) {
      memory.delete(key);
      real?.removeItem(key);
    },
  };
}
export const ofBrowser = storage('localStorage'), ofTab = storage('sessionStorage');

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
  if (name === 'input' || name === 'textarea' || 'textContent' in properties) element.dir ||= 'auto'; // a person's text may run from right to left
  element.append(...children);
  return element;
}
