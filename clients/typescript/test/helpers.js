// What the tests share.
import { after } from 'node:test';
import { Client } from '@freshet/client';
import { adminToken, start } from '../tools/server.js';
import { proxy } from './proxy.js';

/** A real server and a network in front of it, for all tests of a file. */
export async function serve() {
  const server = await start();
  const network = await proxy(server.url);
  after(async () => {
    network.stop();
    await server.stop();
  });
  return { server, network };
}

/**
 * A client with short waits.
 * @param {string} server
 * @param {string} agent
 * @param {Partial<import('@freshet/client').Options>} [options]
 */
export function connect(server, agent, options) {
  return new Client({ server, agent, pause: 1, ...options });
}

/**
 * Stores items of one tag, the newest last.
 * @param {string} server
 * @param {string} tag
 * @param {number} count
 * @param {number} [from] the number of the first, which is an hour old less so many seconds
 * @returns {Promise<string[]>} their ids
 */
export async function store(server, tag, count, from = 0) {
  const now = Math.floor(Date.now() / 1000);
  const items = Array.from({ length: count }, (_, i) => ({
    id: `${tag}_${from + i}`, title: `${tag} ${from + i}`, update_time: now - 3600 + from + i, tags: [tag], author_id: `${tag}_${i}`,
  }));
  const admin = new Client({ server, headers: { 'X-Admin-Token': adminToken } });
  await admin.do({ method: 'POST', path: '/v1/items', body: items });
  return items.map(({ id }) => id);
}

/**
 * Waits until a function returns something true.
 * @template T
 * @param {() => T | Promise<T>} condition
 * @returns {Promise<NonNullable<T>>}
 */
export async function until(condition) {
  for (;;) {
    const value = await condition();
    if (value) return value;
    await new Promise((resolve) => { setTimeout(resolve, 10); });
  }
}

/** Keeps what a badge tells. */
export function watch() {
  /** @type {import('@freshet/client').Badge[]} */
  const badges = [];
  return {
    badges,
    /** @param {import('@freshet/client').Badge} badge */
    callback: (badge) => { badges.push(badge); },
    /** @param {(badge: import('@freshet/client').Badge) => boolean} condition of what was told last */
    shows: (condition) => until(() => badges.length > 0 && badges.slice(-1).some(condition)),
  };
}

/** Waits for the next second: posts and items have times in seconds, and those of the second of a refresh are not newer. */
export function nextSecond() {
  const now = Math.floor(Date.now() / 1000);
  return until(() => Math.floor(Date.now() / 1000) > now);
}
