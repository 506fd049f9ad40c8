import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, Feed, isPost } from '@freshet/client';
import { adminToken } from '../tools/server.js';
import { connect, serve, store, until } from './helpers.js';

const { server, network } = await serve();

// A PNG of one transparent pixel.
const pixel = new Blob([Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64',
)], { type: 'image/png' });

/** @param {any} call */
const isPostOf = (call) => call.method === 'POST' && call.path === '/v1/posts';

test('a post is published once, though its answer was cut', async () => {
  const client = connect(network.url, 'once');
  network.fail({ on: isPostOf, answer: 'cut' });
  const post = await client.createPost({ caption: 'Rain at last #weather' });
  assert.deepEqual(post.tags, ['weather']);
  const { items } = await client.timeline();
  assert.deepEqual(items.map(({ id }) => id), [post.id]);
  const keys = network.calls.filter(isPostOf).map(({ headers }) => headers['idempotency-key']);
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);

  const draft = { caption: 'A draft', key: 'draft-1' };
  assert.equal((await client.createPost(draft)).id, (await client.createPost(draft)).id);
  await assert.rejects(client.createPost({ ...draft, caption: 'Another' }), { kind: 'conflict', status: 409, code: 40901 });
});

test('a post with images', async () => {
  const client = connect(network.url, 'painter');
  network.fail({ on: isPostOf, answer: 'cut' });
  const { id } = await client.createPost({ caption: 'Two dots', images: [{ data: pixel, alt: 'A dot' }, { data: pixel }] });
  const { images = [] } = await client.post(id);
  assert.deepEqual(images.map(({ width, height, alt }) => ({ width, height, alt })), [{ width: 1, height: 1, alt: 'A dot' }, { width: 1, height: 1, alt: '' }]);
  const image = await fetch(new URL(images[0]?.url ?? '', server.url));
  assert.equal(image.headers.get('Content-Type'), 'image/png');
  assert.equal((await client.timeline()).items.length, 1);
  await assert.rejects(client.createPost({ caption: 'Text', images: [{ data: new Blob(['text']) }] }), { kind: 'not_an_image', status: 415, code: 41501 });
});

test('the image of a card', async () => {
  const client = connect(network.url, 'portrait');
  network.fail({ on: ({ method, path }) => method === 'PUT' && path.endsWith('/image'), answer: 'cut' });
  const { image_url = '' } = await client.putAuthorImage(pixel);
  assert.equal((await fetch(client.url(image_url))).headers.get('Content-Type'), 'image/png');
  assert.equal((await connect(server.url, 'reader').authorCards(['portrait']))[0]?.image_url, image_url);
  await assert.rejects(client.putAuthorImage(new Blob(['text'])), { kind: 'not_an_image', status: 415, code: 41501 });
  await assert.rejects(client.putAuthorImage('another', pixel), { kind: 'forbidden', status: 403 });
  assert.equal((await new Client({ server: server.url, headers: { 'X-Admin-Token': adminToken } }).putAuthorImage('portrait', pixel)).id, 'portrait');
});

test('posts are read, liked, edited and deleted', async () => {
  const author = connect(server.url, 'author');
  const reader = connect(server.url, 'reader');
  assert.equal(await reader.follow('reader', 'author'), true);
  assert.equal(await reader.follow('reader', 'author'), false);
  const { id } = await author.createPost({ caption: 'Rain', audience: { followers: true } });
  await author.createPost({ caption: 'Snow' });

  const first = await reader.timeline({ limit: 1 });
  const second = await reader.timeline({ limit: 1, cursor: first.next_cursor });
  assert.deepEqual([...first.items, ...second.items].map(({ caption }) => caption), ['Snow', 'Rain']);
  assert.equal(second.items[0]?.in_feed?.reason, 'follow');

  assert.deepEqual(await reader.likePost(id), { likes: 1, has_liked: true });
  const grid = await reader.authorGrid('author', { limit: 5 });
  assert.deepEqual(grid.items.at(-1), {
    id, created_at: second.items[0]?.created_at, likes: 1, comments: 0, caption: 'Rain', image_count: 0, audience: { followers: true },
  });
  assert.deepEqual(await reader.unlikePost(id), { likes: 0, has_liked: false });
  const reply = await reader.createPost({ caption: 'At last', reply_to: id });
  assert.equal(reply.root, id);
  const under = await author.replies(id, { order: 'oldest', limit: 1 });
  assert.deepEqual(under.items.map(({ caption }) => caption), ['At last']);
  assert.deepEqual((await author.replies(id, { cursor: under.next_cursor })).items, []);
  assert.equal((await author.editPost(id, { caption: 'Rain!' })).caption, 'Rain!');
  await assert.rejects(reader.editPost(id, { caption: 'Sun' }), { kind: 'forbidden' });
  await author.deletePost(id);
  await assert.rejects(reader.post(id), { kind: 'not_found' });
  assert.equal(await reader.unfollow('reader', 'author'), true);
  assert.deepEqual((await reader.timeline()).items, []);
});

test('events and impressions', async () => {
  const items = await store(server.url, 'events', 5);
  const client = connect(server.url, 'reporter');
  const feed = new Feed(client, { why: true });
  const page = await feed.refresh();
  const shown = page.items.filter((item) => !isPost(item)).map(({ id }) => id);
  assert.deepEqual(shown.toSorted(), items);
  assert.ok(page.items.some((item) => item.in_feed?.why?.some(({ type }) => type === 'fresh')));
  const [clicked = '', hidden = ''] = shown;
  const taken = await client.events([{ type: 'click', id: clicked }, { type: 'hide', id: hidden }, { type: 'like', id: 'never_shown' }]);
  assert.deepEqual(taken, { accepted: 2, not_shown: 1 });
  assert.deepEqual((await client.profile('reporter')).muted_items, [hidden]);
  await client.seen(shown);

  // Long lists take several calls.
  const many = Array.from({ length: 1100 }, (_, i) => ({ type: /** @type {const} */ ('click'), id: `other_${i}` }));
  assert.deepEqual(await client.events(many), { accepted: 0, not_shown: 1100 });
});

test('the feed of guests, and a call that has no method', async () => {
  const guest = connect(server.url, '');
  assert.deepEqual(Object.keys(await guest.guest({ limit: 5 })), ['items']);
  /** @type {import('@freshet/client').Data<'/v1/circles/{id}', 'put'>} */
  const circle = await connect(server.url, 'owner').do({ method: 'PUT', path: '/v1/circles/c1', body: { name: 'Friends', members: ['u_1', 'u_2'] } });
  assert.deepEqual(circle, { id: 'c1', owner: 'owner', name: 'Friends', size: 2, kind: 'circle' });
});

test('an export has everything that is stored about its agent, and is sent once', async () => {
  const client = connect(server.url, 'leaver');
  await client.putProfile({ langs: ['en'] });
  assert.equal((await client.exportState()).state, 'none');
  assert.equal((await client.askExport()).state, 'running');
  await until(async () => (await client.exportState('leaver')).state === 'ready');
  const zip = await client.exportFile();
  assert.equal(zip.type, 'application/zip');
  assert.ok(zip.size > 1000);
  await assert.rejects(client.exportFile(), { status: 410 });
  await assert.rejects(client.askExport(), { kind: 'rate_limited' });
});

test('a group has a page, and its owner removes posts', async () => {
  const owner = connect(server.url, 'cox');
  const member = connect(server.url, 'rower');
  await owner.do({ method: 'PUT', path: '/v1/circles/rowers', body: { kind: 'group', name: 'Rowers' } });
  await owner.do({ method: 'PUT', path: '/v1/circles/rowers/invitations/rower' });
  await member.do({ method: 'PUT', path: '/v1/circles/rowers/members/rower' });
  assert.deepEqual([await member.mute('rower', 'circles', 'rowers'), await member.mute('rower', 'invitations', 'cox')], [true, true]);
  const { circles } = await member.do({ method: 'GET', path: '/v1/agents/rower/muted/circles' });
  assert.deepEqual(circles, ['rowers']);
  const until = new Date('2100-01-02T03:04:05Z');
  assert.deepEqual([await member.mute('rower', 'circles', 'rowers', { until }), await member.mute('words', 'spoiler alert', { until })], [true, true]);
  assert.deepEqual((await member.profile()).muted_words, [{ term: 'spoiler alert', until: '2100-01-02T03:04:05Z' }]);
  assert.deepEqual([await member.mute('words', 'Spoiler alert'), await member.unmute('words', 'spoiler alert')], [true, true]);
  const timed = await member.do({ method: 'GET', path: '/v1/agents/rower/muted/circles' });
  assert.deepEqual(timed, { circles: ['rowers'], until: { rowers: '2100-01-02T03:04:05Z' }, next_after: null });
  const { id } = await member.createPost({ caption: 'For sale', audience: { circles: ['rowers'] } });
  const reply = await member.createPost({ caption: 'Cheap', reply_to: id });
  const { items } = await owner.circlePosts('rowers', { limit: 1 });
  assert.deepEqual(items.map(({ id, in_feed }) => [id, in_feed.circles]), [[id, [{ id: 'rowers', name: 'Rowers' }]]]);
  await owner.removePost(reply.id);
  assert.equal((await owner.post(id)).comments, 0);
  assert.equal((await member.editPost(id, { reply: 'none' })).in_feed.can_reply, false);
  await owner.removePost(id, { circle: 'rowers', reason: 'off topic' });
  await assert.rejects(owner.post(id), { kind: 'not_found', status: 404 });
  const [removed] = (await member.post(id)).in_feed.removed ?? [];
  assert.equal(removed?.reason, 'off topic');
});

test('reports are read and decided by moderators alone', async () => {
  const reader = connect(server.url, 'reports_reader');
  const author = connect(server.url, 'reports_author');
  const post = await author.createPost({ caption: 'Buy now' });
  assert.equal(await reader.report('post', post.id, { reason: 'spam', details: 'again' }), true);
  assert.equal(await reader.report('post', post.id, { reason: 'other' }), false, 'once');
  await assert.rejects(reader.report('post', 'post:none', { reason: 'spam' }), { kind: 'not_found' });
  const moderator = new Client({ server: server.url, headers: { 'X-Admin-Token': adminToken } });
  const [reported] = (await moderator.reports({ limit: 1 })).objects;
  assert.deepEqual([reported?.id, reported?.count, reported?.reports[0]?.details], [post.id, 1, 'again']);
  assert.equal(await moderator.moderate({ object: { kind: 'post', id: post.id }, action: 'hold', reason: 'checked' }), true);
  await assert.rejects(reader.post(post.id), { kind: 'not_found' });
  assert.equal((await author.post(post.id)).in_feed.removed?.[0]?.held, true);
  assert.equal((await moderator.moderatedPost(post.id)).state, 'held');
  assert.equal((await moderator.moderatedPosts({ author: 'reports_author', state: 'held' })).posts.length, 1);
  assert.equal((await moderator.audit({ limit: 1 })).entries[0]?.action, 'list');
  await assert.rejects(reader.reports(), { kind: 'forbidden' });
});
