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
 * A reader who follows an author, and the author.
 * @param {string} name
 * @param {Partial<import('@freshet/client').Options>} [options]
 */
async function follower(name, options) {
  const author = connect(server.url, `author_${name}`);
  const client = connect(network.url, `reader_${name}`, options);
  await client.follow(`reader_${name}`, `author_${name}`);
  return { client, author };
}

/** @param {import('@freshet/client').Client} client */
const newest = async (client) => (await client.timeline({ limit: 1 })).items[0];

test('a stream tells of posts, and goes on where it was cut', async () => {
  /** @type {import('@freshet/client').FreshetError[]} */
  const broken = [];
  const { client, author } = await follower('cut');
  const news = client.stream({ onRetry: (cause) => broken.push(cause) });
  assert.deepEqual((await news.next()).value, { id: '0', count: 0 }, 'it begins at an empty timeline');

  const first = await author.createPost({ caption: 'Rain at last' });
  const told = (await news.next()).value;
  assert.deepEqual(told, { id: `${first.id}:${first.created_at}`, count: 1 });

  // While nobody listens two posts come, which is told as soon as it is connected again.
  const missed = news.next();
  const mend = network.fail({
    on: isStreamOf('reader_cut'), stays: true,
    instead: { status: 503, headers: { 'Content-Type': 'application/json' }, body: '{"code":50301,"msg":"not now"}' },
  });
  network.cutStreams();
  await author.createPost({ caption: 'Snow' });
  const last = await author.createPost({ caption: 'Sun' });
  await until(async () => (await newest(client))?.id === last.id);
  mend();
  const begun = (await missed).value;
  assert.deepEqual(begun, { id: told.id, count: 0 }, 'it has begun again, where it was');
  assert.deepEqual((await news.next()).value, { id: `${last.id}:${last.created_at}`, count: 2 });
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
  assert.equal(broken[0], 'cannot reach the server: it is silent');
  ends.abort();
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
  const { client, author } = await follower('live');
  const feed = new Feed(client, { feed: 'home' });
  await feed.refresh();
  const { badges, callback, shows } = watch();
  const stop = feed.badge(callback, { every: 3_600_000 });
  await shows((badge) => badge.live);
  assert.deepEqual(badges.at(-1), { count: 0, posts: 0, live: true });
  await nextSecond();
  const { id } = await author.createPost({ caption: 'Rain at last' });
  await shows((badge) => badge.posts === 1 && badge.count === 1);
  const page = await feed.refresh();
  assert.ok(page.items.some((item) => item.id === id));
  await shows((badge) => badge.posts === 0 && badge.count === 0 && badge.live);

  network.cutStreams();
  await shows((badge) => !badge.live);
  await shows((badge) => badge.live);
  stop();
  const told = badges.length;
  await author.createPost({ caption: 'Snow' });
  await until(async () => (await newest(client))?.caption === 'Snow');
  assert.equal(badges.length, told, 'who has stopped it is told nothing');
});

test('a look from before a refresh does not count after it', async () => {
  const client = connect(network.url, 'quick');
  const feed = new Feed(client, { feed: 'home' });
  await feed.refresh();
  await nextSecond();
  await client.createPost({ caption: 'Mine' });
  await until(async () => (await feed.silent()).new_count === 1);
  const isLook = (/** @type {any} */ call) => call.headers['x-agent-id'] === 'quick' && call.body.includes('"silent":true');
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
  await until(() => errors.length > 0);
  assert.deepEqual(errors.map(({ kind, code }) => [kind, code]), [['not_found', 40401]]);

  await nextSecond();
  await store(server.url, 'news', 1, 3600);
  await shows((badge) => badge.count === 1);

  // A look that fails ends nothing.
  network.fail({ on: (call) => call.body.includes('"silent":true'), instead: { status: 500, headers: {}, body: '{"code":50001,"msg":"internal error"}' } });
  await until(() => errors.length > 1);
  assert.equal(errors[1].kind, 'refused');
  await feed.refresh();
  await shows((badge) => badge.count === 0);
  stop();
  assert.ok(badges.every((badge) => !badge.live && badge.posts === 0));
});
