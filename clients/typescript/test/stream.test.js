import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Feed } from '@freshet/client';
import { stream } from '../dist/stream.js';
import { Transport } from '../dist/transport.js';
import { connect, nextSecond, serve, store, until, watch } from './helpers.js';

const { server, network } = await serve();

/** @param {string} agent */
const isStreamOf = (agent) => (/** @type {any} */ call) => call.path === '/v1/stream' && call.headers['x-agent-id'] === agent;

/**
 * A reader who follows an author, and a function by which the author posts. The posts are for
 * followers: public ones would be discovered by the readers of other tests.
 * @param {string} name
 * @param {Partial<import('@freshet/client').Options>} [options]
 */
async function follower(name, options) {
  const author = connect(server.url, `author_${name}`);
  const client = connect(network.url, `reader_${name}`, options);
  await client.follow(`reader_${name}`, `author_${name}`);
  return { client, post: (/** @type {string} */ caption) => author.createPost({ caption, audience: { followers: true } }) };
}

/** @param {import('@freshet/client').Client} client */
const newest = async (client) => (await client.timeline({ limit: 1 })).items[0];

/** The position in the id of an event, without the arrival. @param {string} id */
const position = (id) => id.replace(/\.-\.\d+/, '');

test('a stream tells of posts, and goes on where it was cut', async () => {
  /** @type {import('@freshet/client').FreshetError[]} */
  const broken = [];
  const { client, post } = await follower('cut');
  const news = client.stream({ onRetry: (cause) => broken.push(cause) });
  assert.deepEqual((await news.next()).value, { id: '0', count: 0 }, 'it begins at an empty timeline');

  const first = await post('Rain at last');
  const told = (await news.next()).value;
  assert.deepEqual({ ...told, id: position(told.id) }, { id: `${first.id}:${first.created_at}`, count: 1 });

  // While nobody listens two posts come, which is told as soon as it is connected again.
  const missed = news.next();
  const mend = network.fail({
    on: isStreamOf('reader_cut'), stays: true,
    instead: { status: 503, headers: { 'Content-Type': 'application/json' }, body: '{"code":50301,"msg":"not now"}' },
  });
  network.cutStreams();
  await post('Snow');
  const last = await post('Sun');
  await until(async () => (await newest(client))?.id === last.id);
  mend();
  const begun = (await missed).value;
  assert.deepEqual(begun, { id: told.id, count: 0 }, 'it has begun again, where it was');
  const both = (await news.next()).value;
  assert.deepEqual({ ...both, id: position(both.id) }, { id: `${last.id}:${last.created_at}`, count: 2 });
  assert.equal(broken[0]?.kind, 'unreachable');
  const [start, ...again] = network.calls.filter(isStreamOf('reader_cut')).map(({ headers }) => headers['last-event-id']);
  assert.equal(start, undefined);
  assert.deepEqual([...new Set(again)], [told.id]);
  await news.return(/** @type {never} */ (undefined));
});

test('a stream that is silent for too long is begun again', async () => {
  const ends = new AbortController();
  /** @type {string[]} */
  const broken = [];
  const onRetry = (/** @type {Error} */ cause) => broken.push(cause.message);
  const silent = stream(new Transport({ server: network.url, agent: 'silent' }), { signal: ends.signal, onRetry }, 100);
  assert.deepEqual((await silent.next()).value, { id: '0', count: 0 });
  assert.deepEqual((await silent.next()).value, { id: '0', count: 0 }, 'it has begun again');
  assert.equal(broken[0], 'cannot reach the server: it has stopped sending');
  ends.abort();
});

test('a stream that was cut survives a token function that fails for a while', async () => {
  let asked = 0;
  const token = () => {
    asked++;
    if (asked === 2 || asked === 3) throw new Error('the identity provider is unreachable');
    return '';
  };
  /** @type {import('@freshet/client').FreshetError[]} */
  const causes = [];
  const { client, post } = await follower('renew');
  const news = connect(network.url, 'reader_renew', { token }).stream({ onRetry: (cause) => causes.push(cause) });
  await news.next();
  const again = news.next();
  network.cutStreams();
  assert.deepEqual((await again).value, { id: '0', count: 0 }, 'it has begun again');
  assert.deepEqual(causes.slice(1).map(({ kind, message }) => [kind, message]), Array(2).fill(['unreachable', 'cannot get a token: the identity provider is unreachable']));
  await post('Rain');
  assert.equal((await news.next()).value.count, 1);
  await news.return(/** @type {never} */ (undefined));
  assert.equal((await newest(client))?.caption, 'Rain');

  const never = connect(network.url, 'reader_renew', { token: () => { throw new Error('signed out'); } });
  await assert.rejects(never.stream().next(), { message: 'signed out' }, 'no stream has started');
});

test('a stream that is refused throws', async () => {
  await assert.rejects(connect(network.url, 'not an id').stream().next(), { kind: 'bad_request', code: 40004 });
  network.fail({ on: isStreamOf('plain'), instead: { status: 200, headers: { 'Content-Type': 'application/json' }, body: '{"code":0,"msg":"success","data":{}}' } });
  await assert.rejects(connect(network.url, 'plain').stream().next(), { kind: 'not_freshet' });
  const ends = new AbortController();
  const leaving = connect(network.url, 'leaving').stream({ signal: ends.signal, onRetry: () => assert.fail('who leaves does not come again') });
  await leaving.next();
  const pending = leaving.next();
  ends.abort(new Error('the reader leaves'));
  await assert.rejects(pending, { message: 'the reader leaves' });
});

test('a badge is told by the stream', async () => {
  const { client, post } = await follower('live');
  const feed = new Feed(client, { feed: 'home' });
  await feed.refresh();
  const { badges, callback, shows } = watch();
  const stop = feed.badge(callback, { every: 3_600_000 });
  await shows((badge) => badge.live);
  assert.deepEqual(badges.at(-1), { count: 0, posts: 0, live: true });
  await nextSecond();
  const { id } = await post('Rain at last');
  await shows((badge) => badge.posts === 1 && badge.count === 1);
  const page = await feed.refresh();
  assert.ok(page.items.some((item) => item.id === id));
  await shows((badge) => badge.posts === 0 && badge.count === 0 && badge.live);

  network.cutStreams();
  await shows((badge) => !badge.live);
  await shows((badge) => badge.live);
  stop();
  const told = badges.length;
  await post('Snow');
  await until(async () => (await newest(client))?.caption === 'Snow');
  assert.equal(badges.length, told, 'who has stopped it is told nothing');
});

test('a look from before a refresh does not count after it', async () => {
  const { client, post } = await follower('quick');
  const feed = new Feed(client, { feed: 'home' });
  await feed.refresh();
  await nextSecond();
  await post('Rain');
  await until(async () => (await feed.silent()).new_count === 1);
  const isLook = (/** @type {any} */ call) => call.headers['x-agent-id'] === 'reader_quick' && call.body.includes('"silent":true');
  /** @type {() => void} */
  let refreshed = () => {};
  network.fail({ on: isLook, after: new Promise((resolve) => { refreshed = () => resolve(undefined); }) });
  const before = network.calls.length;
  const looks = () => network.calls.slice(before).filter(isLook).length;
  const { badges, callback } = watch();
  const stop = feed.badge(callback, { every: 10 });
  await until(() => looks() === 1);
  await feed.refresh();
  refreshed();
  await until(() => looks() > 2);
  stop();
  assert.deepEqual(badges.filter(({ count }) => count > 0), []);
});

test('badges of one client share a stream', async () => {
  const { client, post } = await follower('shared');
  const feeds = Array.from({ length: 6 }, (_, i) => new Feed(client, { feed: i % 2 ? 'home' : 'for_you' }));
  const before = network.streams();
  const first = watch();
  const stops = [feeds[0]?.badge(first.callback, { every: 3_600_000 })];
  await first.shows((badge) => badge.live);
  const told = feeds.slice(1).map((feed) => {
    const one = watch();
    stops.push(feed.badge(one.callback, { every: 3_600_000 }));
    return one;
  });
  await Promise.all(told.map(({ shows }) => shows((badge) => badge.live)));
  assert.equal(network.streams(), before + 1);
  await post('Rain at last');
  await Promise.all([first, ...told].map(({ shows }) => shows((badge) => badge.posts === 1)));
  for (const stop of stops.splice(0, 5)) stop?.();
  await post('Snow');
  await told[4]?.shows((badge) => badge.posts === 2);
  assert.equal(first.badges.at(-1)?.posts, 1, 'who has stopped it is told nothing');
  for (const stop of stops) stop?.();
  await until(() => network.streams() === before);
});

test('a badge follows what the reader reads elsewhere', async () => {
  const { client, post } = await follower('tabs');
  const tabs = [new Feed(client, { feed: 'home' }), new Feed(connect(network.url, 'reader_tabs'), { feed: 'home' })];
  await tabs[0]?.refresh();
  const [here, there] = [watch(), watch()];
  const stops = tabs.map((feed, i) => feed.badge((i === 0 ? here : there).callback, { every: 50 }));
  await Promise.all([here, there].map(({ shows }) => shows((badge) => badge.live)));
  await nextSecond();
  for (const caption of ['Rain', 'Snow', 'Sun']) await post(caption);
  await Promise.all([here, there].map(({ shows }) => shows((badge) => badge.count === 3 && badge.posts === 3)));
  await tabs[0]?.refresh();
  await Promise.all([here, there].map(({ shows }) => shows((badge) => badge.count === 0 && badge.posts === 0)));
  for (const stop of stops) stop();
});

for (const [name, instead] of /** @type {[string, {status: number, headers?: Record<string, string>, body: string}][]} */ ([
  ['404', { status: 404, body: 'default backend' }],
  ['500', { status: 500, body: '' }],
  ['html', { status: 200, headers: { 'Content-Type': 'text/html' }, body: '<p>back soon' }],
  ['401', { status: 401, headers: { 'Content-Type': 'application/json' }, body: '{"code":40101,"msg":"who are you"}' }],
])) {
  test(`a badge whose stream was answered with ${name} is live again`, async () => {
    network.fail({ on: isStreamOf(`again_${name}`), instead });
    /** @type {unknown[]} */
    const errors = [];
    const { callback, shows } = watch();
    const stop = new Feed(connect(network.url, `again_${name}`)).badge(callback, { every: 10, onError: (error) => errors.push(error) });
    await shows((badge) => badge.live);
    assert.equal(errors.length, 1);
    stop();
  });
}

test('a badge does not ask again for a stream that the runtime cannot read', async () => {
  /** @type {typeof fetch} */
  const withoutBodies = async (...args) => Object.defineProperty(await fetch(...args), 'body', { value: null });
  const from = network.calls.length;
  const calls = () => network.calls.slice(from);
  const { badges, callback } = watch();
  const stop = new Feed(connect(network.url, 'native', { fetch: withoutBodies })).badge(callback, { every: 1 });
  await until(() => calls().filter(({ path }) => path === '/v1/feed').length > 10);
  stop();
  assert.equal(calls().filter(({ path }) => path === '/v1/stream').length, 1);
  assert.ok(badges.every(({ live }) => !live));
});

test('a badge for which nothing works waits between its tries', async (t) => {
  const { throwIfAborted } = AbortSignal.prototype;
  t.after(() => { Object.assign(AbortSignal.prototype, { throwIfAborted }); });
  Reflect.deleteProperty(AbortSignal.prototype, 'throwIfAborted');
  for (const broken of [() => { throw new TypeError('no network here'); }, async () => { throw new TypeError('no network here'); }]) {
    let asked = 0;
    const fetch = () => { asked++; return broken(); };
    const client = connect('http://127.0.0.1:1', 'u_1', { tries: 1, pause: 3_600_000, fetch: /** @type {any} */ (fetch) });
    let errors = 0;
    const stop = new Feed(client).badge(() => {}, { every: 3_600_000, onError: () => { errors++; } });
    await until(() => errors > 0);
    await nextSecond();
    stop();
    assert.equal(asked, 2, 'one look, one try of the stream');
    assert.equal(errors, 1);
  }
});

test('a badge that is stopped leaves no timer', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  for (const [when, url] of /** @type {const} */ ([['at once', network.url], ['looking', network.url], ['live', network.url], ['offline', 'http://127.0.0.1:1']])) {
    const { callback, shows } = watch();
    /** @type {unknown[]} */
    const errors = [];
    const from = network.calls.length;
    const stop = new Feed(connect(url, 'stopped', { pause: 3_600_000 })).badge(callback, { onError: (error) => errors.push(error) });
    if (when === 'looking') await until(() => network.calls.length > from);
    if (when === 'live') await shows((badge) => badge.live);
    if (when === 'offline') await nextSecond();
    stop();
    await until(() => timers() <= before);
    assert.deepEqual(errors, []);
  }
});

test('a badge polls where there is no stream', async () => {
  network.fail({
    on: isStreamOf('poller'), stays: true,
    instead: { status: 404, headers: { 'Content-Type': 'application/json' }, body: '{"code":40401,"msg":"not found: this server has no streams"}' },
  });
  const feed = new Feed(connect(network.url, 'poller'));
  await feed.refresh();
  /** @type {any[]} */
  const errors = [];
  const { badges, callback, shows } = watch();
  const stop = feed.badge(callback, { every: 20, onError: (error) => errors.push(error) });
  await shows(() => true);
  assert.deepEqual(badges, [{ count: 0, posts: 0, live: false }]);
  await until(() => errors.length > 1);
  assert.ok(errors.every(({ kind, code }) => kind === 'not_found' && code === 40401), 'it goes on to look for one');

  await nextSecond();
  await store(server.url, 'news', 1, 3600);
  await shows((badge) => badge.count === 1);

  // A look that fails ends nothing.
  network.fail({ on: (call) => call.body.includes('"silent":true'), instead: { status: 500, headers: {}, body: '{"code":50001,"msg":"internal error"}' } });
  await until(() => errors.some(({ kind }) => kind === 'refused'));
  await feed.refresh();
  await shows((badge) => badge.count === 0);
  stop();
  assert.ok(badges.every((badge) => !badge.live && badge.posts === 0));
});

test('a reader is notified, and marks it on another device', async () => {
  const client = connect(network.url, 'reader_told');
  const post = await client.createPost({ caption: 'Rain at last', audience: { public: true } });
  const events = client.stream({ notifications: true });
  assert.equal((await events.next()).value.count, 0);
  await connect(server.url, 'liker_told').likePost(post.id);
  const told = (await events.next()).value;
  assert.deepEqual([told.count, told.unread], [0, 1]);

  const page = await client.notifications({ limit: 5 });
  assert.deepEqual(page.notifications.map(({ kind, count, actors, post: about }) => [kind, count, actors[0]?.id, about?.id]), [['like', 1, 'liker_told', post.id]]);
  assert.equal(await client.seeNotifications(page.marker), true);
  assert.equal(await client.seeNotifications('reader_told', page.marker), false);
  assert.equal((await events.next()).value.unread, 0);
  assert.equal((await client.notifications()).unread, 0);

  assert.equal(await client.mute('notifications', 'like'), true);
  assert.deepEqual((await client.notifications('reader_told')).notifications, []);
  await events.return?.(/** @type {never} */ (undefined));
});

test('notifications and new posts are told over the stream of the badges', async () => {
  const { client, post } = await follower('alive');
  const mine = await client.createPost({ caption: 'Mine', audience: { public: true } });
  const before = network.streams();
  /** @type {number[]} */
  const unread = [];
  let posts = 0;
  const badge = watch();
  const stops = [
    client.live({ unread: (count) => unread.push(count), posts: (count) => { posts += count; } }),
    new Feed(client, { feed: 'home' }).badge(badge.callback, { every: 3_600_000 }),
  ];
  await badge.shows(({ live }) => live);
  await until(() => unread.at(-1) === 0);
  assert.equal(network.streams(), before + 1);
  await post('Rain at last');
  await until(() => posts === 1);
  for (const liker of ['first_alive', 'second_alive']) {
    const told = unread.length;
    await connect(server.url, liker).likePost(mine.id);
    await until(() => unread.length > told); // for both, although they are one notification
    assert.equal(unread.at(-1), 1);
  }

  // What another device marks while the stream is away: the next stream is silent about zero.
  const gone = { on: isStreamOf('reader_alive'), instead: { status: 503, body: '' }, stays: true };
  const back = network.fail(gone);
  network.cutStreams();
  await until(() => network.calls.filter(isStreamOf('reader_alive')).length > 2);
  const device = connect(server.url, 'reader_alive');
  await device.seeNotifications((await device.notifications()).marker);
  assert.equal(unread.at(-1), 1);
  back();
  await until(() => unread.at(-1) === 0);
  for (const stop of stops) stop();
  await until(() => network.streams() === before);
});

test('notifications are counted without a stream', async () => {
  const { client } = await follower('deaf');
  const mine = await client.createPost({ caption: 'Mine', audience: { public: true } });
  network.fail({ on: isStreamOf('reader_deaf'), instead: { status: 404, body: '' }, stays: true });
  /** @type {number[]} */
  const unread = [];
  /** @type {unknown[]} */
  const errors = [];
  const stop = client.live({ unread: (count) => unread.push(count), every: 10, onError: (error) => errors.push(error) });
  await until(() => unread.at(-1) === 0 && errors.length > 0);
  await connect(server.url, 'liker_deaf').likePost(mine.id);
  await until(() => unread.at(-1) === 1);
  stop();
  assert.deepEqual(unread, [0, 1], 'the same number is told once');
});
