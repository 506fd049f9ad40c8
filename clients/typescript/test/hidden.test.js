import assert from 'node:assert/strict';
import { test } from 'node:test';

// The page of a browser, which can be hidden.
const page = Object.assign(new EventTarget(), {
  hidden: true,
  /** @param {boolean} hidden */
  turn(hidden) {
    page.hidden = hidden;
    page.dispatchEvent(new Event('visibilitychange'));
  },
});
Object.assign(globalThis, { document: page });

const { Feed } = await import('@freshet/client');
const { connect, serve, until, watch } = await import('./helpers.js');
const { network } = await serve();

test('a badge rests while the page is hidden', async () => {
  const feed = new Feed(connect(network.url, 'u_1'));
  const { callback, shows } = watch();
  const stop = feed.badge(callback, { every: 10 });
  await feed.refresh();
  assert.equal(network.calls.length, 1, 'nothing but the refresh');
  page.turn(false);
  await shows((badge) => badge.live);
  assert.equal(network.streams(), 1);
  page.turn(true);
  await until(() => network.streams() === 0);
  page.turn(false);
  await until(() => network.streams() === 1);
  const streams = network.calls.filter(({ path }) => path === '/v1/stream');
  assert.deepEqual(streams.map(({ headers }) => headers['last-event-id']), [undefined, '0'], 'it goes on where it was');
  stop();
  await until(() => network.streams() === 0);
  page.turn(true);
  page.turn(false);
  await feed.refresh();
  assert.equal(network.calls.filter(({ path }) => path === '/v1/stream').length, 2, 'who has stopped it is left alone');
});

test('what is live rests while the page is hidden', async () => {
  page.turn(true);
  const client = connect(network.url, 'u_2');
  const before = network.calls.length;
  /** @type {number[]} */
  const unread = [];
  const stop = client.live({ unread: (count) => unread.push(count), every: 10 });
  page.turn(false);
  await until(() => unread.length > 0);
  page.turn(true);
  await until(() => network.streams() === 0);
  stop();
  page.turn(false);
  assert.ok(network.calls.slice(before).every(({ path }) => path === '/v1/stream' || path.includes('/notifications')));
  assert.equal(network.streams(), 0);
});
