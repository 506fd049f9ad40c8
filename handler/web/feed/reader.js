// Who reads: the agent's name, and a token where the server asks for one.

import { call, ofBrowser, ofTab } from '/assets/api.js';

// reader.agent is '' for a guest. reader.turn is another one for each reader, so that
// what an earlier one has asked for does not come in late.
export const reader = { agent: ofBrowser.get('agent') ?? '', turn: 0 };

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

export async function ask(method, path, body) {
  return (await call(method, path, { body, headers: headers() })).data;
}

// own is a path of the reader's own.
export const own = (path) => `/v1/agents/${encodeURIComponent(reader.agent)}${path}`;
