import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, serve } from './helpers.js';

const { server } = await serve();

test('a new reader finds itself, gets a card, and erases it', async () => {
  const client = connect(server.url, 'new');
  assert.deepEqual(await client.me(), { id: 'new', posts: 0, followers: 0, following: 0, is_following: false, follows_you: false });
  await assert.rejects(client.author('nobody'), { kind: 'not_found' });
  assert.deepEqual(await client.patchAuthor({ name: 'Nora', recommend: false }), { id: 'new', name: 'Nora', recommend: false });
  const { id } = await client.createPost({ caption: 'Hello' });
  const friend = connect(server.url, 'friend');
  await friend.follow('new');
  assert.deepEqual((await client.followers()).agents, ['friend']);
  assert.deepEqual((await friend.following()).cards.map(({ name, is_following }) => [name, is_following]), [['Nora', true]]);
  assert.deepEqual((await friend.authorPosts('new', { limit: 5 })).items.map((post) => post.id), [id]);
  assert.equal((/** @type {import('@freshet/client').Me} */ (await friend.author('new'))).is_following, true);
  await client.eraseAgent();
  await assert.rejects(friend.author('new'), { kind: 'not_found' });
  assert.equal((await client.me()).name, undefined);
});

test('a group is made, invites, is joined, left and deleted', async () => {
  const [owner, member] = [connect(server.url, 'owner'), connect(server.url, 'member')];
  const group = await owner.putCircle('rowers', { kind: 'group', name: 'Rowers', members_visible_to: 'members' });
  assert.deepEqual([group.owner, group.size], ['owner', 1]);
  assert.equal((await owner.patchCircle('rowers', { name: 'The Rowers' })).name, 'The Rowers');
  assert.equal(await owner.invite('rowers', 'member'), true);
  assert.deepEqual((await owner.invitations('rowers')).agents, ['member']);
  assert.equal(await member.withdrawInvitation('rowers'), true);
  await assert.rejects(owner.invite('rowers', 'member'), { kind: 'forbidden' }, 'who has declined');
  assert.equal(await owner.invite('rowers', 'other'), true);
  assert.deepEqual((await connect(server.url, 'other').circles('invited')).circles.map(({ id }) => id), ['rowers']);
  assert.equal(await connect(server.url, 'other').addMember('rowers'), true);
  assert.deepEqual((await owner.members('rowers')).agents, ['other', 'owner']);
  assert.deepEqual((await owner.members('rowers', 'other')).agents, ['owner'], 'the next page');
  assert.equal(await connect(server.url, 'other').removeMember('rowers'), true);
  assert.equal((await owner.circle('rowers')).size, 1);
  await owner.deleteCircle('rowers');
  assert.deepEqual((await owner.circles()).circles, []);
});
