import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InfiniteQueryObserver, QueryClient, focusManager, onlineManager } from '@tanstack/query-core';
import { Client, Feed, FreshetError, infiniteQueryOptions, isPost, updateEntry } from '@freshet/client';
import { connect, serve, store, until } from './helpers.js';

const { server, network } = await serve();

// The pixel of an image.
const pixel = new Blob([Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64')], { type: 'image/png' });

/** A list that has been scrolled down three pages. */
async function scrolled(/** @type {string} */ name) {
  await store(server.url, name, 45);
  /** @type {Feed<{rank?: number}>} */
  const feed = new Feed(connect(network.url, name), { limit: 10 });
  const queries = new QueryClient();
  queries.mount();
  const options = infiniteQueryOptions(feed);
  assert.deepEqual(infiniteQueryOptions(feed).queryKey, options.queryKey, 'the same in each render');
  const observe = () => {
    const observer = new InfiniteQueryObserver(queries, { ...infiniteQueryOptions(feed) });
    return { observer, stop: observer.subscribe(() => {}) };
  };
  const { observer, stop } = observe();
  await until(() => observer.getCurrentResult().isSuccess);
  for (let i = 0; i < 2; i++) await observer.fetchNextPage();
  const ids = (of = observer) => (of.getCurrentResult().data?.pages ?? []).flatMap(({ items }) => items.map(({ id }) => id));
  assert.equal(ids().length, 30);
  return { feed, queries, options, observe, observer, stop, ids };
}

const pages = () => network.calls.filter(({ path }) => path === '/v1/feed').length;

test('nothing but a refresh changes a list in TanStack Query', async () => {
  const { queries, options, observe, observer, stop, ids } = await scrolled('kept');
  const [before, calls] = [ids(), pages()];
  focusManager.setFocused(false);
  focusManager.setFocused(true);
  onlineManager.setOnline(false);
  onlineManager.setOnline(true);
  const liked = before[15] ?? '';
  queries.setQueryData(options.queryKey, (/** @type {any} */ data) => ({ ...data, pages: updateEntry(data.pages, liked, { likes: 7 }) }));
  await queries.invalidateQueries();
  await observer.refetch();
  assert.deepEqual(ids(), before);
  stop();
  const again = observe();
  await queries.invalidateQueries();
  assert.deepEqual(ids(again.observer), before, 'also who comes back finds it');
  const entry = again.observer.getCurrentResult().data?.pages.flatMap(({ items }) => items).find(({ id }) => id === liked);
  assert.ok(entry && !isPost(entry));
  assert.equal(entry.likes, 7, 'with what was changed');
  assert.equal(entry.rank, undefined, 'the type has fields of the app');
  assert.equal(pages(), calls, 'the server was not asked');

  await queries.resetQueries({ queryKey: options.queryKey });
  const fresh = ids(again.observer);
  assert.equal(fresh.length, 10);
  assert.ok(fresh.every((id) => !before.includes(id)), 'a refresh begins anew');
  while (again.observer.getCurrentResult().hasNextPage) await again.observer.fetchNextPage();
  assert.ok(ids(again.observer).length >= 15, 'there are pages until one is empty');
  again.stop();
  queries.unmount();
});

test('a page that TanStack Query gives up comes with the next', async () => {
  const { queries, options, observer, stop, ids } = await scrolled('given_up');
  network.fail({ on: ({ body }) => body.includes('"load_more"'), answer: 'hold' });
  const from = network.calls.length;
  const given = observer.fetchNextPage();
  await until(() => network.calls.length > from);
  const [{ request_id }, before] = [JSON.parse(network.calls.at(-1)?.body ?? ''), ids()];
  await queries.cancelQueries({ queryKey: options.queryKey });
  await given;
  assert.deepEqual(ids(), before);
  await observer.fetchNextPage();
  assert.equal(ids().length, 40);
  assert.equal(JSON.parse(network.calls.at(-1)?.body ?? '').request_id, request_id);
  stop();
  queries.unmount();
});

test('what an app changes while a page is fetched stays', async () => {
  const { queries, options, observer, stop, ids } = await scrolled('changed');
  /** @type {() => void} */
  let release = () => {};
  network.fail({ on: ({ body }) => body.includes('"load_more"'), after: new Promise((done) => { release = () => done(undefined); }) });
  const from = network.calls.length;
  const fetched = observer.fetchNextPage();
  await until(() => network.calls.length > from);
  const liked = ids()[15] ?? '';
  queries.setQueryData(options.queryKey, (/** @type {any} */ data) => ({ ...data, pages: updateEntry(data.pages, liked, { likes: 7 }) }));
  release();
  await fetched;
  assert.equal(ids().length, 40);
  const entry = observer.getCurrentResult().data?.pages.flatMap(({ items }) => items).find(({ id }) => id === liked);
  assert.equal(entry?.likes, 7);
  stop();
  queries.unmount();
});

test('an empty page that lacks something is not the end', async () => {
  const { queries, observer, stop, ids } = await scrolled('lacking');
  const body = JSON.stringify({ code: 0, msg: 'success', data: { items: [], has_more: false, degraded: ['following'] } });
  network.fail({ on: ({ body: asked }) => asked.includes('"load_more"'), instead: { status: 200, headers: { 'Content-Type': 'application/json' }, body } });
  await observer.fetchNextPage();
  const { error, hasNextPage } = observer.getCurrentResult();
  assert.ok(error instanceof FreshetError);
  assert.equal(error.kind, 'unavailable');
  assert.match(error.message, /following/);
  assert.ok(hasNextPage);
  assert.equal(ids().length, 30);
  await observer.fetchNextPage();
  assert.equal(ids().length, 40, 'the reader tried again');
  stop();
  queries.unmount();
});

test('a list that an app keeps on the disk is not taken for one of another reader', () => {
  const keys = ['ana', 'ben'].map((agent) => infiniteQueryOptions(new Feed(connect(network.url, agent))).queryKey);
  for (const [, id] of keys) assert.match(String(id), /^[0-9a-f]{32}$/, 'nobody has the same after the page was loaded again');
  assert.notDeepEqual(keys[0], keys[1]);
});

test('an entry is changed by fields or by a function', () => {
  /** @type {any[]} */
  const list = [{ items: [{ id: 'a', title: 'A' }] }, { items: [{ id: 'b', likes: 1 }, { id: 'c' }] }];
  const changed = updateEntry(list, 'b', (entry) => ({ ...entry, likes: 2 }));
  assert.deepEqual(changed[1], { items: [{ id: 'b', likes: 2 }, { id: 'c' }] });
  assert.equal(changed[0], list[0]);
  assert.deepEqual(list[1].items[0], { id: 'b', likes: 1 });
  assert.deepEqual(updateEntry(list, 'a', { title: 'B' })[0].items, [{ id: 'a', title: 'B' }]);
});

test('images have a URL, and those for followers are read as the reader', async () => {
  const author = connect(network.url, 'painter');
  const reader = connect(network.url, 'fan');
  await reader.follow('fan', 'painter');
  const { id } = await author.createPost({ images: [{ data: pixel, alt: 'A dot' }], caption: 'A dot', audience: { followers: true } });
  const url = (await reader.post(id)).images?.[0]?.url ?? '';
  assert.equal(reader.url(url), network.url + url);
  assert.equal(reader.url('https://images.example.com/a.png'), 'https://images.example.com/a.png');
  assert.equal((await fetch(reader.url(url))).status, 404, 'as an <img> has it');
  network.fail({ on: ({ path }) => path === url, answer: 'cut' });
  const image = await reader.image(url);
  assert.equal(image.type, 'image/png');
  assert.ok(image.size > 0);
  await assert.rejects(connect(server.url, 'stranger').image(url), { kind: 'not_found' });
  assert.throws(() => reader.image('https://images.example.com/a.png'), TypeError, 'no other host is told who reads');
});

test('a page may name its own server by a path', () => {
  assert.throws(() => new Client({ server: '/api' }), TypeError, 'there is no page');
  Object.assign(globalThis, { location: new URL('https://app.example.com/feed?a=b') });
  try {
    assert.equal(new Client({ server: '/api/' }).url('/media/1'), 'https://app.example.com/api/media/1');
    assert.equal(new Client({ server: '/' }).url('/media/1'), 'https://app.example.com/media/1');
    for (const wrong of ['api', '//evil.example.com/?', '/a?b', '']) assert.throws(() => new Client({ server: wrong }), TypeError, wrong);
  } finally {
    Reflect.deleteProperty(globalThis, 'location');
  }
});
