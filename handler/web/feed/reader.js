// The reader: the agent id, and a token if the server requires one.

import { call, ofBrowser, ofTab } from '/assets/api.js';

const LONGEST = 15_000; // timeout of a call in ms

// reader.agent is '' for a guest. reader.turn changes with each reader, so that late answers for
// an earlier reader are ignored.
export const reader = { agent: ofBrowser.get('agent') ?? '', turn: 0 };

// server holds the authentication settings (auth, claim) and whether the server is a demo.
export const server = document.documentElement.dataset;

export const byToken = server.auth === 'jwt';

// agentOf returns the agent that a token names, with the server's mapping of subjects to ids.
export async function agentOf(token) {
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  let subject;
  try {
    subject = JSON.parse(new TextDecoder().decode(bytes(token.split('.')[1])))[server.claim];
  } catch {
    throw new Error('This is not a token: a token has three parts separated by dots.');
  }
  if (subject === undefined) throw new Error(`The token does not name a reader: it has no claim ${server.claim}.`);
  subject = String(subject);
  if (/^[A-Za-z0-9_.@-]{1,128}$/.test(subject) && !/^sub\.[A-Za-z0-9_-]{43}$/.test(subject)) return subject;
  if (!globalThis.crypto?.subtle) throw new Error('The browser cannot compute the id of this reader over plain HTTP. Open the page over HTTPS or on localhost.');
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(subject)));
  return 'sub.' + btoa(String.fromCharCode(...hash)).replace(/[+/=]/g, (c) => ({ '+': '-', '/': '_', '=': '' })[c]);
}

export function become(agent) {
  reader.agent = agent;
  reader.turn++;
  ofBrowser.set('agent', agent);
}

export function headers() {
  const token = ofTab.get('token');
  return {
    ...(reader.agent ? { 'X-Agent-ID': reader.agent } : {}),
    ...(token ? { Authorization: `Bearer ${token}` } : {}),
  };
}

export async function ask(method, path, body, more = {}) {
  return (await call(method, path, { body, headers: { ...headers(), ...more }, signal: AbortSignal.timeout(LONGEST) })).data;
}

// own returns a path below the reader's agent.
export const own = (path) => `/v1/agents/${encodeURIComponent(reader.agent)}${path}`;
