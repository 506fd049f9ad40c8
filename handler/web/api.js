// Shared by the pages: API calls, and the formatting of times and numbers.

export class Refused extends Error {
  constructor(status, code, message) { super(message); this.status = status; this.code = code; }
}

const AWAY = 'The server cannot be reached. Check the network, or try again in a moment.';

// A device's clock may be off. now returns the server's time in Unix seconds, as its last answer told it.
let ahead = 0; // ms
export const now = () => (Date.now() + ahead) / 1000;

// call returns {data, etag}, or throws Refused with the server's message. signal aborts it.
export async function call(method, path, { body, headers = {}, signal } = {}) {
  const response = await fetch(path, {
    method, signal, headers: { 'Content-Type': 'application/json', ...headers }, body: body && JSON.stringify(body),
  }).catch(away);
  const off = Date.parse(response.headers.get('Date')) - Date.now();
  if (Math.abs(off - ahead) > 5000) ahead = off;
  const answer = await response.json().catch((error) => {
    if (response.ok) away(error); // the answer was truncated
    return { code: -1, msg: `The server answered ${response.status}. Try again in a moment.` };
  });
  if (answer.code !== 0) throw new Refused(response.status, answer.code, answer.msg);
  return { data: answer.data, etag: response.headers.get('ETag') };
}

function away(error) { throw error.name === 'AbortError' ? error : new Error(AWAY); }

// newID returns an id for a call. randomUUID is missing in a page loaded by plain HTTP from
// another machine.
export function newID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
}

// storage stores texts in the browser. If site data is blocked or full, it keeps them only while
// the page is open.
function storage(name) {
  const memory = new Map();
  let real;
  try { real = window[name]; } catch { /* blocked */ }
  return {
    get: (key) => memory.get(key) ?? real?.getItem(key) ?? null,
    // json returns a value stored as JSON, or null if it cannot be read.
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
  if (name === 'input' || name === 'textarea' || 'textContent' in properties) element.dir ||= 'auto'; // user text may run from right to left
  element.append(...children);
  return element;
}
