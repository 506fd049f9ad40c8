// What can be reported: how each kind is read, and what can be decided about it.

import { age, make, now } from '/assets/api.js';
import { admin } from '/assets/console/calls.js';
import { text } from '/assets/console/tables.js';

const KINDS = { post: 'Post', item: 'Item', author: 'Author', circle: 'Group or event' };

export const nameOf = ({ kind, id }) => `${KINDS[kind] ?? kind} ${id}`;
export const time = (seconds) => new Date(seconds * 1000).toLocaleString();

const when = (seconds) => text(`${time(seconds)} (${age(now() - seconds)} ago)`);
const link = (says, view, query) => make('td', { className: 'text' }, make('a', { href: `#/${view}?${new URLSearchParams(query)}`, textContent: says }));
const open = (kind, id, says = id) => link(says, 'moderation', { kind, id });
const read = async (path, signal) => (await admin('GET', path, undefined, {}, signal)).data;

// aboutPost returns what is known of a post: names and cells, without a cell for what it does not have.
const aboutPost = (p) => [
  ['Text', p.caption && text(p.caption)], ['Author', open('author', p.author)], ['Suspended', p.author_suspended_until && text(`until ${time(p.author_suspended_until)}`)],
  ['State', text([p.state ?? 'shown', p.reason].filter(Boolean).join(': '))], ['Published', when(p.created_at)], ['Edited', p.edited_at && when(p.edited_at)],
  ['For', text(p.root ? 'who sees the post above' : [p.audience.public && 'everybody', p.audience.followers && 'followers', ...(p.audience.circles ?? []).map((c) => `group ${c}`)].filter(Boolean).join(', ') || 'whom it mentions')],
  ['Reply to', p.reply_to && open('post', p.reply_to)], ['Tags', p.tags && text(p.tags.join(', '))], ['Mentions', p.mentions && text(p.mentions.join(', '))],
  ['Counts', text(`${p.likes} likes, ${p.comments} replies, ${p.reports} reports`)],
].filter(([, cell]) => cell);

// READ reads an object of each kind: rows about it, its images, whom a suspension would be of, and the possible actions.
export const READ = {
  async post(id, signal) {
    const p = await read(`/v1/moderation/posts/${encodeURIComponent(id)}`, signal);
    const acts = [p.state !== 'held' && 'hold', p.state !== 'removed' && 'remove', p.state && 'restore', 'suspend', p.author_suspended_until && 'lift', 'dismiss'];
    return { rows: aboutPost(p), images: p.images, author: p.author, acts: acts.filter(Boolean) };
  },
  async author(id, signal) {
    const { posts } = await read(`/v1/moderation/posts?${new URLSearchParams({ author: id, limit: 5 })}`, signal);
    return { rows: posts.length ? posts.flatMap((p, i) => [...(i ? [] : aboutPost(p).filter(([name]) => name === 'Suspended')), [time(p.created_at), open('post', p.id, p.caption || p.id)]]) : [['Posts', 'none']], author: id, acts: ['suspend', 'lift', 'dismiss'] };
  },
  async item(id, signal) {
    const { title } = await read(`/v1/items/${encodeURIComponent(id)}`, signal);
    return { rows: [['Title', link(title, 'items', { id })], ['To remove it', text('delete it there, then dismiss the reports')]], acts: ['dismiss'] };
  },
  circle: async () => ({ rows: [['To remove it', text('delete the group, by DELETE /v1/circles/…, then dismiss the reports')]], acts: ['dismiss'] }),
};
