import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { Feed } from '@freshet/client';
import { connect, serve, until } from './helpers.js';

const { server, network } = await serve();
const busy = { status: 503, headers: {}, body: '' };

test('a token is asked for before each try', async () => {
  let asked = 0;
  const client = connect(network.url, '', { token: async () => `token-${++asked}` });
  network.fail({ on: (call) => call.headers.authorization === 'Bearer token-1', answer: 'cut' });
  await assert.rejects(client.timeline(), { kind: 'unauthenticated' });
  const broken = connect(network.url, '', { token: () => { throw new Error('signed out'); } });
  await assert.rejects(broken.timeline(), { message: 'signed out' });
  await assert.rejects(broken.stream().next(), { message: 'signed out' });
});

test('zeros and empty values are sent as given, undefined is not', async () => {
  /** @type {{ path: string, body: any }[]} */
  const sent = [];
  const fetch = /** @type {any} */ (async (/** @type {string} */ url, /** @type {any} */ { body }) => {
    sent.push({ path: url.slice(server.url.length), body: body && JSON.parse(body) });
    return new Response('{"code":0,"msg":"success","data":{"items":[],"agents":[],"authors":[]}}', { headers: { 'content-type': 'application/json' } });
  });
  const client = connect(server.url, 'reader', { fetch });
  const any = /** @type {any} */ (client);
  const last = () => /** @type {{ path: string, body: any }} */ (sent.at(-1));
  for (const [call, body] of /** @type {[() => Promise<unknown>, object][]} */ ([
    [() => any.feed({ action: '', limit: 0, silent: true, why: false, feed: '', request_id: '' }), { action: '', limit: 0, silent: true, why: false, feed: '', request_id: '' }],
    [() => any.feed({ action: 'refresh', silent: false, request_id: 'a' }), { action: 'refresh', silent: false, request_id: 'a' }],
    [() => client.createPost({ caption: '', tags: [], mentions: [], audience: {} }), { caption: '', tags: [], mentions: [], audience: {} }],
    [() => client.createPost({ caption: 'a', audience: { public: false, circles: [] } }), { caption: 'a', audience: { public: false, circles: [] } }],
    [() => client.editPost('post:a', { caption: '', tags: [], alts: [] }), { caption: '', tags: [], alts: [] }],
    [() => client.putProfile('reader', { interests: { a: 0 }, keywords: [{ term: 'a', weight: 0 }], langs: [], muted_items: [] }), { interests: { a: 0 }, keywords: [{ term: 'a', weight: 0 }], langs: [], muted_items: [] }],
    [() => client.patchProfile('reader', { interests: {}, langs: [], muted_tags: null }), { interests: {}, langs: [], muted_tags: null }],
  ])) {
    await call();
    assert.deepEqual(last().body, body);
  }
  await client.guest({ limit: 0 });
  assert.equal(last().path, '/v1/feed/guest?limit=0');
  await client.related('a/b related', { limit: 5 });
  assert.equal(last().path, '/v1/items/a%2Fb%20related/related?limit=5');
  await client.feed({ action: 'refresh', limit: undefined, request_id: undefined });
  assert.match(last().body.request_id, /./, 'a retry needs an id');
  assert.deepEqual(Object.keys(last().body), ['action', 'request_id']);
  await new Feed(client, { why: false, limit: 0 }).refresh();
  assert.equal(last().body.why, false);
  assert.equal(last().body.limit, 0);
});

test('methods about an agent are about the caller if none is named', async () => {
  const client = connect(server.url, 'reader');
  await connect(server.url, 'author').createPost({ caption: 'Rain' });
  assert.equal(await client.follow('author'), true);
  assert.equal(await client.follow('reader', 'author'), false, 'the caller is the reader');
  assert.equal(await client.unfollow('author', { timeout: 5000 }), true);
  assert.equal((await client.followMany(['author'])).changed, 1);
  assert.equal(await client.block('author'), true);
  assert.deepEqual((await client.blocked()).agents, ['author']);
  assert.equal(await client.unblock('author'), true);
  assert.ok((await client.suggestions({ limit: 1 })).authors);
  assert.ok((await client.suggestions()).authors);
  assert.deepEqual((await client.putProfile({ langs: ['en'] })).langs, ['en']);
  assert.deepEqual((await client.patchProfile({ langs: ['de'] })).langs, ['de']);
  assert.equal(await client.mute('tags', 'rain'), true);
  assert.deepEqual((await client.profile('reader')).muted_tags, ['rain']);
  assert.equal(await client.mute('items', 'never/was'), true);
  assert.deepEqual(await client.mutedItems({ limit: 1 }), { items: [{ id: 'never/was' }], next_cursor: null });
  assert.equal(await client.unmute('items', 'never/was'), true);
  assert.equal(await client.unmute('tags', 'rain'), true);
  assert.equal((await client.profile()).muted_tags, undefined);
});

test('a token function is asked once more after a 401', async () => {
  for (const call of /** @type {const} */ (['timeline', 'guest', 'createPost', 'stream'])) {
    /** @type {string[]} */
    const asked = [];
    const token = () => { asked.push(call); return `${call}-${asked.length}`; };
    const client = connect(network.url, 'reader', { token, tries: 1 });
    network.fail({ on: ({ headers }) => headers.authorization === `Bearer ${call}-1`, instead: { status: 401, body: '{"code":40101,"msg":"the token has expired"}' } });
    if (call === 'stream') {
      const stream = client.stream();
      await stream.next();
      await stream.return(/** @type {never} */ (undefined));
    }
    else if (call === 'createPost') await client.createPost({ caption: 'Rain' });
    else await client[call]();
    assert.equal(asked.length, 2, call);
    const mend = network.fail({ on: ({ headers }) => Boolean(headers.authorization), instead: { status: 401, body: '{"code":40101,"msg":"who are you"}' }, stays: true });
    await assert.rejects(client.timeline(), { kind: 'unauthenticated' });
    assert.equal(asked.length, 4, 'once');
    mend();
  }
  const before = network.calls.length;
  network.fail({ on: () => true, instead: { status: 401, body: '{"code":40101,"msg":"who are you"}' } });
  await assert.rejects(connect(network.url, '', { token: 'fixed' }).timeline(), { kind: 'unauthenticated' });
  assert.equal(network.calls.length, before + 1, 'a token that is fixed stays refused');
});

test('calls at the same time share one call of the token function', async () => {
  let [token, asked] = ['old', 0];
  const client = connect(network.url, '', {
    tries: 1,
    token: async () => { // an app whose refresh token can be used once
      asked++;
      if (asked === 2) token = 'new';
      if (asked > 2) throw new Error('the refresh token was used again');
      return token;
    },
  });
  let refused = 0;
  const mend = network.fail({ on: ({ headers }) => headers.authorization === 'Bearer old' && Boolean(++refused), instead: { status: 401, body: '{"code":40101,"msg":"the token has expired"}' }, stays: true });
  const mendNew = network.fail({ on: ({ headers }) => headers.authorization === 'Bearer new', instead: { status: 200, body: '{"code":0,"msg":"success","data":{}}' }, stays: true });
  await Promise.all([client.timeline(), client.suggestions(), client.feed({ action: 'refresh' }), client.blocked(), client.timeline({ limit: 5 }), client.guest()]);
  assert.deepEqual([asked, refused], [2, 6]);
  mend();
  mendNew();
  // One that never answers does not block later calls.
  let hangs = true;
  const patient = connect(network.url, '', { tries: 1, timeout: 100, token: () => hangs ? new Promise(() => {}) : '' });
  await assert.rejects(patient.guest(), { kind: 'timeout' });
  hangs = false;
  await patient.guest();
});

test('a client and a feed work in reactive state', async () => {
  const client = connect(network.url, 'reader');
  // As Vue does: a proxy, whose methods get the proxy as this.
  const wrap = /** @type {<T extends object>(object: T) => T} */ ((object) => new Proxy(object, {
    get: (target, name, receiver) => {
      const value = Reflect.get(target, name, receiver);
      return typeof value === 'object' && value !== null ? wrap(value) : value;
    },
  }));
  // As valtio does: a copy of the properties, with the prototype.
  const copy = /** @type {<T extends object>(object: T) => T} */ ((object) => {
    const made = Object.create(Object.getPrototypeOf(object));
    for (const name of Reflect.ownKeys(object)) made[name] = Reflect.get(object, name);
    return made;
  });
  for (const state of [wrap, copy]) {
    const feed = state(new Feed(client, { limit: 1 }));
    assert.ok((await feed.refresh()).items);
    assert.ok((await state(client).timeline()).items);
    assert.ok((await feed.client.suggestions()).authors);
  }
  assert.deepEqual(Object.keys(new Feed(client)), ['client'], 'methods are not listed');
  const { guest } = client;
  assert.ok((await guest()).items);
});

const never = () => new Promise(() => {});
for (const [what, options] of /** @type {[string, Partial<import('@freshet/client').Options>][]} */ ([
  ['a token function', { token: /** @type {any} */ (never) }],
  ['a fetch', { fetch: /** @type {any} */ (never) }],
  ['a body', { fetch: /** @type {any} */ (async () => Object.assign(new Response(''), { text: never })) }],
])) {
  test(`${what} that hangs does not outlive timeout and signal`, async () => {
    const client = connect(server.url, 'reader', { ...options, tries: 1, timeout: 50 });
    await assert.rejects(client.guest(), { kind: 'timeout' });
    const leaves = new AbortController();
    const left = assert.rejects(client.guest({ signal: leaves.signal, timeout: 3_600_000 }), { message: 'the reader leaves' });
    leaves.abort(new Error('the reader leaves'));
    await left;
    if (what === 'a body') return;
    const stream = connect(server.url, 'reader', { ...options, timeout: 3_600_000 }).stream({ signal: leaves.signal });
    await assert.rejects(stream.next(), { message: 'the reader leaves' });
  });
}

/** @typedef {import('@freshet/client').Client} Client */
/** @type {[string, (client: Client) => Promise<unknown>, (client: Client) => Promise<unknown>, (client: Client) => Promise<unknown>, unknown][]} */
const changes = [
  ['a like', (c) => c.likePost(post), (c) => c.unlikePost(post), async (c) => (await c.post(post)).in_feed?.has_liked ?? false, false],
  ['an unlike', (c) => c.unlikePost(post), (c) => c.likePost(post), async (c) => (await c.post(post)).in_feed?.has_liked ?? false, true],
  ['a follow', (c) => c.follow('ana', 'bob'), (c) => c.unfollow('ana', 'bob'), (c) => names(c, 'following'), []],
  ['an unfollow', (c) => c.unfollow('ana', 'bob'), (c) => c.follow('ana', 'bob'), (c) => names(c, 'following'), ['bob']],
  ['a block', (c) => c.block('ana', 'eve'), (c) => c.unblock('ana', 'eve'), (c) => names(c, 'blocked'), []],
  ['an unblock', (c) => c.unblock('ana', 'eve'), (c) => c.block('ana', 'eve'), (c) => names(c, 'blocked'), ['eve']],
  ['a mute', (c) => c.mute('ana', 'tags', 'snow'), (c) => c.unmute('ana', 'tags', 'snow'), async (c) => (await c.profile('ana')).muted_tags ?? [], []],
  ['an unmute', (c) => c.unmute('ana', 'tags', 'snow'), (c) => c.mute('ana', 'tags', 'snow'), async (c) => (await c.profile('ana')).muted_tags, ['snow']],
];

/**
 * @param {Client} client
 * @param {string} list
 */
async function names(client, list) {
  const { agents } = await client.do(/** @type {any} */ ({ method: 'GET', path: `/v1/agents/ana/${list}` }));
  return agents;
}

const { id: post } = await connect(server.url, 'bob').createPost({ caption: 'Rain' });
await connect(server.url, 'ana').putProfile('ana', { interests: { rain: 1 } });

for (const [what, older, newer, now, then] of changes) {
  test(`${what} that is tried again does not overtake a newer call`, async () => {
    /** @type {() => void} */
    let failed = () => {};
    const retry = new Promise((resolve) => { failed = () => resolve(undefined); });
    const client = connect(network.url, 'ana', { pause: 60_000, onRetry: failed });
    const isChange = (/** @type {any} */ { method }) => method === 'PUT' || method === 'DELETE';
    network.fail({ on: isChange, instead: busy });
    const first = older(client);
    const ended = assert.rejects(first, { kind: 'superseded' });
    await retry;
    await newer(client);
    await ended;
    assert.deepEqual(await now(client), then);
  });

  test(`${what} whose answer is late ends before a newer call begins`, async () => {
    const client = connect(network.url, 'ana');
    /** @type {() => void} */
    let answer = () => {};
    const from = network.calls.length;
    network.fail({ on: ({ method }) => method !== 'GET', after: new Promise((resolve) => { answer = () => resolve(undefined); }) });
    const first = older(client);
    await until(() => network.calls.length > from);
    const skipped = older(client);
    const left = assert.rejects(skipped, { kind: 'superseded' });
    const second = newer(client);
    answer();
    await first;
    await second;
    await left;
    assert.equal(network.calls.length, from + 2, 'what was overtaken before it was sent is not sent');
    assert.deepEqual(await now(client), then);
  });
}

test('changes with a body are made one after the other', async () => {
  const client = connect(network.url, 'ana', { pause: 1 });
  network.fail({ on: ({ method }) => method === 'PATCH', instead: busy });
  network.fail({ on: ({ method }) => method === 'PATCH', instead: busy });
  const leaves = new AbortController();
  const all = [{ langs: ['en'] }, { muted_authors: ['eve'] }, { langs: ['de'] }].map((patch) => client.patchProfile('ana', patch));
  const left = assert.rejects(client.patchProfile('ana', { langs: ['fr'] }, { signal: leaves.signal }), { message: 'the reader leaves' });
  leaves.abort(new Error('the reader leaves'));
  await Promise.all([...all, left]);
  const profile = await client.profile('ana');
  assert.deepEqual([profile.langs, profile.muted_authors], [['de'], ['eve']]);
  assert.deepEqual(profile.interests, { rain: 1 });
});

test('one signal of many calls has one listener, and none after them', async () => {
  const client = connect(server.url, 'reader');
  const feeds = Array.from({ length: 12 }, () => new Feed(client));
  const leaves = new AbortController();
  const { signal } = leaves;
  const listeners = () => getEventListeners(signal, 'abort').length;
  const all = [...feeds.map((feed) => feed.refresh({ signal })), ...feeds.map(() => client.timeline({ signal })), ...feeds.map((_, i) => client.putProfile(`r${i % 2}`, {}, { signal }))];
  const settled = Promise.allSettled(all);
  const most = listeners();
  await settled;
  assert.deepEqual([most, listeners()], [1, 0], 'Node warns of a leak at the eleventh');

  const none = connect('http://127.0.0.1:1', 'reader', { pause: 60_000 });
  const waiting = Array.from({ length: 12 }, () => assert.rejects(none.guest({ signal }), { message: 'the reader leaves' }));
  setTimeout(() => leaves.abort(new Error('the reader leaves')), 20);
  await Promise.all(waiting);
  assert.equal(listeners(), 0);
});

test('a client works where signals and crypto have what React Native has', async (t) => {
  const { throwIfAborted } = AbortSignal.prototype;
  const reason = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'reason'));
  const crypto = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(globalThis, 'crypto'));
  t.after(() => {
    Object.assign(AbortSignal.prototype, { throwIfAborted });
    Object.defineProperty(AbortSignal.prototype, 'reason', reason);
    Object.defineProperty(globalThis, 'crypto', crypto);
  });
  Reflect.deleteProperty(AbortSignal.prototype, 'throwIfAborted');
  Object.defineProperty(AbortSignal.prototype, 'reason', { get: () => undefined, configurable: true });
  Object.defineProperty(globalThis, 'crypto', { value: undefined, configurable: true });

  const feed = new Feed(connect(server.url, 'native'));
  const leaves = new AbortController();
  await feed.refresh({ signal: leaves.signal });
  leaves.abort();
  await assert.rejects(feed.refresh({ signal: leaves.signal }), { name: 'AbortError' });
  await assert.rejects(feed.loadMore({ signal: leaves.signal }), { name: 'AbortError' });
  await assert.rejects(connect('http://127.0.0.1:1', 'native', { pause: 60_000 }).guest({ signal: leaves.signal }), { name: 'AbortError' });
});
