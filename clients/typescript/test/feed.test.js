import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Feed, FreshetError } from '@freshet/client';
import { connect, serve, store } from './helpers.js';

const { server, network } = await serve();

/** @param {{items: {id: string}[]}} page */
const ids = (page) => page.items.map(({ id }) => id);

/**
 * Scrolls on until there is nothing more.
 * @param {Feed} feed
 */
async function rest(feed) {
  const all = [];
  for (;;) {
    const page = ids(await feed.loadMore());
    if (page.length === 0) return all;
    all.push(...page);
  }
}

/**
 * A reader who is alone with some items of their own, and has refreshed.
 * @param {string} name
 * @param {Partial<import('@freshet/client').Options>} [options]
 */
async function reader(name, options) {
  const items = await store(server.url, name, 30);
  const client = connect(network.url, `reader_${name}`, options);
  await client.putProfile(`reader_${name}`, { interests: { [name]: 1 }, muted_tags: others(name) });
  const feed = new Feed(client, { limit: 10 });
  const first = ids(await feed.refresh());
  assert.equal(first.length, 10);
  return { feed, items, first };
}

const names = [
  'scroll', 'cut', 'half', 'direct', 'offline', 'abort', 'tick', 'busy', 'slow', 'late',
  'minute', 'pull', 'pulled', 'first', 'larger', 'forgotten', 'wrong', 'stuck', 'stuck_too',
];
/** @param {string} name */
const others = (name) => names.filter((other) => other !== name);

/** @param {{body: string}} call */
const isLoadMore = (call) => call.body.includes('"load_more"');

/** @param {string} agent */
const requestIDs = (agent) => network.calls
  .filter((call) => isLoadMore(call) && call.headers['x-agent-id'] === agent)
  .map((call) => JSON.parse(call.body).request_id);

test('a feed is scrolled to its end, each item once', async () => {
  const { feed, items, first } = await reader('scroll');
  const all = [...first, ...await rest(feed)];
  assert.deepEqual(all.toSorted(), items.toSorted());
  const taken = requestIDs('reader_scroll');
  assert.equal(new Set(taken).size, taken.length, 'a new request id for each call');
});

for (const [name, answer] of /** @type {const} */ ([['cut', 'cut'], ['half', 'cut in half']])) {
  test(`an answer of a load_more that is ${answer} comes again`, async () => {
    /** @type {string[]} */
    const retries = [];
    const { feed, items, first } = await reader(name, { onRetry: (cause) => retries.push(cause.kind) });
    network.fail({ on: (call) => isLoadMore(call) && call.headers['x-agent-id'] === `reader_${name}`, answer });
    const second = ids(await feed.loadMore());
    assert.deepEqual(retries, ['unreachable']);
    assert.equal(second.length, 10);
    const all = [...first, ...second, ...await rest(feed)];
    assert.deepEqual(all.toSorted(), items.toSorted(), 'nothing is lost, nothing comes twice');
    const [once, again, next] = requestIDs(`reader_${name}`);
    assert.equal(again, once);
    assert.notEqual(next, once);
  });
}

test('so does one that was asked for without a Feed', async () => {
  const { feed, items, first } = await reader('direct');
  network.fail({ on: (call) => isLoadMore(call) && call.headers['x-agent-id'] === 'reader_direct', answer: 'cut' });
  const second = ids(await feed.client.feed({ action: 'load_more', limit: 10 }));
  const all = [...first, ...second, ...await rest(feed)];
  assert.deepEqual(all.toSorted(), items.toSorted());
});

test('a page comes again after all tries have failed', async () => {
  const { feed, items, first } = await reader('offline', { tries: 2 });
  const on = (/** @type {any} */ call) => isLoadMore(call) && call.headers['x-agent-id'] === 'reader_offline';
  network.fail({ on, answer: 'cut' });
  network.fail({ on, answer: 'cut' });
  await assert.rejects(feed.loadMore(), { name: 'FreshetError', kind: 'unreachable', status: 0, code: 0 });
  const all = [...first, ...await rest(feed)];
  assert.deepEqual(all.toSorted(), items.toSorted());
});

test('a page comes again after its call was aborted', async () => {
  const { feed, items, first } = await reader('abort');
  const leaves = new AbortController();
  network.fail({
    on: (call) => {
      const is = isLoadMore(call) && call.headers['x-agent-id'] === 'reader_abort';
      if (is) leaves.abort(new Error('the reader leaves'));
      return is;
    },
    answer: 'hold',
  });
  await assert.rejects(feed.loadMore({ signal: leaves.signal }), { message: 'the reader leaves' });
  await assert.rejects(feed.loadMore({ signal: leaves.signal }), { message: 'the reader leaves' }, 'and is not begun where it is aborted already');
  const all = [...first, ...await rest(feed)];
  assert.deepEqual(all.toSorted(), items.toSorted());
});

test('a page comes again where its call is aborted and made again in the same tick', async () => {
  const { feed, items, first } = await reader('tick');
  for (const again of /** @type {const} */ (['loadMore', 'refresh', 'loadMore'])) {
    const leaves = new AbortController();
    const sent = new Promise((resolve) => {
      network.fail({
        on: (call) => {
          const is = call.headers['x-agent-id'] === 'reader_tick';
          if (is) resolve(call);
          return is;
        },
        answer: 'hold',
      });
    });
    const left = assert.rejects(feed[again]({ signal: leaves.signal }), { message: 'the reader leaves' });
    await sent;
    leaves.abort(new Error('the reader leaves'));
    first.push(...ids(await feed[again]()));
    await left;
    const [once, next] = network.calls.filter((call) => call.headers['x-agent-id'] === 'reader_tick').slice(-2)
      .map((call) => JSON.parse(call.body).request_id);
    assert.equal(next, once, 'the next equal call takes the id on');
  }
  const all = [...first, ...await rest(feed)];
  assert.deepEqual(all.toSorted(), items.toSorted(), 'nothing is lost, nothing comes twice');
});

test('an answer that comes with the abort belongs to the next call', async () => {
  const leaves = new AbortController();
  /** @type {string[]} */
  const sent = [];
  const answer = async (/** @type {unknown} */ _, /** @type {RequestInit} */ { body }) => {
    sent.push(JSON.parse(String(body)).request_id);
    const text = JSON.stringify({ code: 0, msg: 'success', data: { items: [] } });
    const response = new Response(text, { status: 200, headers: { 'Content-Type': 'application/json' } });
    response.text = async () => {
      leaves.abort(new Error('the reader leaves'));
      return text;
    };
    return response;
  };
  const feed = new Feed(connect('http://127.0.0.1:1', 'late', { fetch: /** @type {typeof fetch} */ (answer) }));
  await assert.rejects(feed.loadMore({ signal: leaves.signal }), { message: 'the reader leaves' });
  await feed.loadMore();
  assert.equal(sent[1], sent[0]);
});

/**
 * A reader who has lost a page: all tries of a call have failed, though the server has answered.
 * @param {string} name
 * @param {'refresh' | 'loadMore'} what
 */
async function without(name, what) {
  const it = await reader(name, { tries: 1 });
  network.fail({ on: (call) => call.headers['x-agent-id'] === `reader_${name}`, answer: 'cut' });
  await assert.rejects(it.feed[what](), { kind: 'unreachable' });
  return it;
}

test('a page that was lost comes for as long as the server remembers it', async (t) => {
  const { feed, items, first } = await without('minute', 'loadMore');
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + 55_000);
  const all = [...first, ...await rest(feed)];
  assert.deepEqual(all.toSorted(), items.toSorted());
});

for (const [name, lost] of /** @type {const} */ ([['stuck', 'loadMore'], ['stuck_too', 'refresh']])) {
  test(`a ${lost} that fails each time holds up what comes after it for a minute at most`, async (t) => {
    const { feed } = await without(name, lost);
    const broken = JSON.parse(network.calls.at(-1)?.body ?? '').request_id;
    network.fail({ on: ({ body }) => body.includes(broken), instead: { status: 503, body: '' }, stays: true });
    const now = performance.now.bind(performance);
    for (const later of [0, 25_000, 50_000]) {
      t.mock.method(performance, 'now', () => now() + later);
      await assert.rejects(feed.refresh(), { kind: 'unavailable' }, `after ${later} ms`);
    }
    t.mock.method(performance, 'now', () => now() + 61_000);
    assert.equal((await feed.refresh()).items.length, 10);
  });
}

for (const [name, lost] of /** @type {const} */ ([['pull', 'loadMore'], ['pulled', 'refresh']])) {
  test(`a refresh after a ${lost} that was lost skips nothing`, async () => {
    const { feed, items, first } = await without(name, lost);
    const refreshed = ids(await feed.refresh());
    assert.equal(refreshed.length, 10);
    const all = [...first, ...refreshed, ...await rest(feed)];
    assert.deepEqual(all.toSorted(), items.toSorted(), 'nothing is lost, nothing comes twice');
  });
}

test('a loadMore after a refresh that was lost skips nothing', async () => {
  const { feed, items, first } = await without('first', 'refresh');
  const all = [...first, ...await rest(feed)];
  assert.deepEqual(all.toSorted(), items.toSorted());
});

test('a page that was lost comes to a call with another limit', async () => {
  const { feed, items, first } = await without('larger', 'loadMore');
  const next = ids(await feed.loadMore({ limit: 5 }));
  assert.equal(next.length, 10, 'as it was asked for first');
  const all = [...first, ...next, ...await rest(feed)];
  assert.deepEqual(all.toSorted(), items.toSorted());
});

test('a page that came again waits where its call is aborted', async () => {
  const { feed, items, first } = await without('forgotten', 'loadMore');
  first.push(...ids(await feed.refresh()));
  const leaves = new AbortController();
  const left = assert.rejects(feed.loadMore({ signal: leaves.signal }), { message: 'the reader leaves' });
  leaves.abort(new Error('the reader leaves'));
  await left;
  const all = [...first, ...await rest(feed)];
  assert.deepEqual(all.toSorted(), items.toSorted());
});

test('a call that was refused is not made again', async () => {
  const { feed } = await reader('wrong', { tries: 1 });
  network.fail({ on: isLoadMore, answer: 'cut' });
  await assert.rejects(feed.loadMore({ limit: 1000 }), { kind: 'unreachable' });
  assert.equal((await feed.refresh()).items.length, 10, 'the refresh passes it over');
  await assert.rejects(feed.loadMore({ limit: 1000 }), { kind: 'bad_request' });
  assert.equal((await feed.loadMore()).items.length, 10);
});

test('a call is made again where the server is busy', async () => {
  const { feed } = await reader('busy');
  const busy = { status: 503, headers: { 'Content-Type': 'application/json' }, body: '{"code":50301,"msg":"too many requests are worked on; try again in 1 s"}' };
  network.fail({ on: isLoadMore, instead: busy });
  network.fail({ on: isLoadMore, instead: { ...busy, status: 429, body: '{"code":42901,"msg":"too many requests of this agent"}' } });
  assert.equal((await feed.loadMore()).items.length, 10);
});

test('Retry-After is kept to', async () => {
  const leaves = new AbortController();
  /** @type {[string, number, number][]} */
  const told = [];
  const client = connect(network.url, 'patient', {
    onRetry: (cause, wait) => {
      told.push([cause.kind, cause.retryAfter, wait]);
      leaves.abort(); // nobody waits half a minute in a test
    },
  });
  const busy = (/** @type {string} */ after) => network.fail({
    on: (call) => call.headers['x-agent-id'] === 'patient',
    instead: { status: 503, headers: { 'Retry-After': after }, body: '{"code":50301,"msg":"not now"}' },
  });
  busy('30');
  await assert.rejects(client.timeline({ signal: leaves.signal }), { name: 'AbortError' });
  assert.deepEqual(told, [['unavailable', 30_000, 30_000]]);
  const in10 = new Date(Date.now() + 600_000).toUTCString();
  for (const [after, least] of /** @type {const} */ ([['600', 600_000], ['86400', 86_400_000], ['9'.repeat(12), 9e14], [in10, 590_000]])) {
    busy(after);
    const error = await client.timeline().then(() => assert.fail(), (e) => e);
    assert.deepEqual([error.kind, error.status, error.code], ['unavailable', 503, 50301], 'no call waits as long as that');
    assert.ok(error.retryAfter >= least, `${after}: ${error.retryAfter}`);
  }
  const here = process.env.TZ;
  process.env.TZ = 'Pacific/Auckland';
  busy(new Date(Date.now() + 600_000).toUTCString().replace(/(...), (..) (...) (....) (\S+) GMT/, (_, day, date, month, year, time) => `${day} ${month} ${date.replace(/^0/, ' ')} ${time} ${year}`));
  const old = await client.timeline().then(() => assert.fail(), (e) => e);
  assert.ok(old.retryAfter >= 590_000 && old.retryAfter <= 600_000, `asctime has no zone and means GMT: ${old.retryAfter}`);
  if (here === undefined) delete process.env.TZ; else process.env.TZ = here;
  for (const off of [-3_600_000, 3_600_000]) {
    const [now, then] = [0, 600_000].map((ms) => new Date(Date.now() + off + ms).toUTCString());
    network.fail({ on: (call) => call.headers['x-agent-id'] === 'patient', instead: { status: 503, headers: { Date: now ?? '', 'Retry-After': then ?? '' }, body: '' } });
    await assert.rejects(client.timeline(), { kind: 'unavailable', retryAfter: 600_000 }, 'by the clock of the server');
  }
  assert.equal(told.length, 1, 'there was no other try');
  for (const past of ['0', '-1', 'soon', new Date(0).toUTCString()]) {
    busy(past);
    await connect(network.url, 'patient').timeline();
  }
});

test('a call without an answer ends in time', async () => {
  const { feed } = await reader('slow', { tries: 1 });
  network.fail({ on: isLoadMore, answer: 'hold' });
  await assert.rejects(feed.loadMore({ timeout: 50 }), { kind: 'timeout', status: 0, message: 'POST /v1/feed was not answered within 50 ms' });
});

test('a call that was not answered in time is made again', async () => {
  /** @type {string[]} */
  const retries = [];
  const { feed, items, first } = await reader('late', { tries: 100, onRetry: (cause) => retries.push(cause.kind) });
  network.fail({ on: isLoadMore, answer: 'hold' });
  const second = ids(await feed.loadMore({ timeout: 200 }));
  assert.equal(retries[0], 'timeout');
  const all = [...first, ...second, ...await rest(feed)];
  assert.deepEqual(all.toSorted(), items.toSorted());
});

test('what the server refuses is a typed error, once', async () => {
  const before = network.calls.length;
  const error = await connect(network.url, 'u_1').feed({ action: 'refresh', limit: 0 }).then(() => undefined, (e) => e);
  assert.ok(error instanceof FreshetError);
  assert.equal(error.kind, 'bad_request');
  assert.equal(error.status, 400);
  assert.equal(error.code, 40003);
  assert.match(error.message, /^the server answered 400 \(40003\): bad limit: limit must be a whole number from 1 to 100/);
  assert.match(error.advice, /The message says what to send/);
  assert.match(error.requestId, /./);
  assert.equal(network.calls.length, before + 1, 'a call that is wrong is not made again');
});

for (const [kind, status, code, call] of /** @type {const} */ ([
  ['bad_request', 400, 40004, () => connect(server.url, 'not an id').timeline()],
  ['unauthenticated', 401, 40101, () => connect(server.url, '').timeline()],
  ['forbidden', 403, 40301, () => connect(server.url, 'u_1').profile('u_2')],
  ['not_found', 404, 40401, () => connect(server.url, 'u_1').post('post:none')],
  ['unprocessable', 422, 42201, () => connect(server.url, 'u_1').createPost({ caption: ' ' })],
])) {
  test(`${status} is ${kind}`, () => assert.rejects(call(), { name: 'FreshetError', kind, status, code }));
}

test('what is no Freshet server is told', async () => {
  const client = connect(network.url, 'u_1');
  network.fail({ on: (call) => call.path === '/v1/feed/guest', instead: { status: 200, headers: { 'Content-Type': 'text/html' }, body: '<p>hello' } });
  await assert.rejects(client.guest(), { kind: 'not_freshet', message: 'the response is not from a Freshet server (text/html, 8 characters)' });
  network.fail({ on: (call) => call.path === '/v1/feed/guest', instead: { status: 302, headers: { Location: 'http://127.0.0.1:1/' }, body: '' } });
  await assert.rejects(client.guest(), { kind: 'not_freshet', status: 302 });
  await assert.rejects(connect('http://127.0.0.1:1', 'u_1', { tries: 2 }).guest(), { kind: 'unreachable', message: /^cannot reach the server: / });
  for (const wrong of ['', '127.0.0.1:8080', 'ftp://127.0.0.1', 'http://127.0.0.1/?a=b']) assert.throws(() => connect(wrong, 'u_1'), TypeError, wrong);
});
