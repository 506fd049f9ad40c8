// What the modules of the views about rankings share. It outlives a view, so that a proposal is still
// there after a look at another one.

import { admin } from '/assets/console/calls.js';
import { differences, fromAPI, parametersOf, toAPI as write } from '/assets/console/ranking/parameters.js';

// live and proposed are values by parameter key, version is the server's newest version, and etag
// its ETag.
export const state = { parameters: [], chosen: '', version: null, etag: '', live: null, proposed: null };

// loadState reads the newest version.
export async function loadState(signal) {
  const { data, etag } = await admin('GET', '/v1/ranking', undefined, {}, signal);
  Object.assign(state, { version: data, etag, live: fromAPI(data.ranking), parameters: parametersOf(data.ranking) });
}

export const toAPI = (values) => write(state.parameters, values);
export const toLive = (values) => differences(state.parameters, state.live, values);
