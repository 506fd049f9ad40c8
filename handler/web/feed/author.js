// An author: their card, a follow button, and a grid of their posts.

import { make } from '/assets/api.js';
import { authorHref, asItem, postHref } from '/assets/feed/card.js';
import { groups } from '/assets/feed/groups.js';
import { avatar, imagesOf, picture } from '/assets/feed/images.js';
import { ask, own, reader } from '/assets/feed/reader.js';
import { posts } from '/assets/feed/sources.js';

const ROW = 24; // posts per page: full rows of two, three and four

// authorView returns an element that shows the author, and grow(), which adds posts to the grid
// and returns whether there are more. acts are fail(error) and followed().
export async function authorView(id, acts) {
  const path = `/v1/authors/${encodeURIComponent(id)}`;
  const info = await ask('GET', path);
  const element = document.getElementById('author').content.firstElementChild.cloneNode(true);
  const part = (selector) => element.querySelector(selector);
  part('.who').prepend(avatar(id, info.name));
  part('h2').textContent = info.name || id;
  part('.id').textContent = `@${id}`;
  part('.bio').textContent = info.bio ?? '';
  if (reader.agent && reader.agent !== id) blockButton(part('.block'), id, info, acts);
  if (info.is_blocked) {
    part('.grid').replaceWith(make('p', { className: 'soft', textContent: 'You have blocked them: neither of you sees what the other posts.' }));
    return { element, grow: async () => false };
  }
  counts(part('.counts'), info);
  if (reader.agent === id) {
    people(part('.followers'), '/followers', 'Nobody follows you yet.', acts);
    people(part('.blocked'), '/blocked', 'You have blocked nobody.', acts);
    groups(part('.groups'), acts).catch(acts.fail);
  } else if (reader.agent) followButton(part('.follow'), part('.counts'), id, info, acts);
  let cursor = '', more = true, busy = false;
  const grow = async () => {
    if (busy || !more) return more;
    busy = true;
    try {
      const page = await posts(`${path}/posts`, cursor, ROW);
      part('.grid').append(...page.items.map(tile));
      ({ cursor, more } = page);
    } finally {
      busy = false;
    }
    return more;
  };
  await grow();
  if (part('.grid').children.length === 0) part('.grid').replaceWith(make('p', { className: 'soft', textContent: 'No posts that you may see.' }));
  return { element, grow };
}

function counts(where, info) {
  const one = (n, word) => [make('b', { textContent: n.toLocaleString('en') }), ` ${word}${n === 1 || word === 'following' ? '' : 's'} `];
  where.replaceChildren(...one(info.posts, 'post'), ...one(info.followers, 'follower'), ...one(info.following, 'following'));
}

// tile returns a post of the grid: its first image, or the beginning of its caption.
function tile(doc) {
  const image = imagesOf(doc)[0];
  const title = asItem(doc).title;
  const link = make('a', { href: postHref(doc.id) }, image ? picture(doc, image, { small: true }) : make('span', { className: 'text', textContent: title }));
  if (image) link.setAttribute('aria-label', title);
  link.append(make('span', { className: 'likes', textContent: `♥ ${doc.likes.toLocaleString('en')}`, role: 'img', ariaLabel: `${doc.likes} like${doc.likes === 1 ? '' : 's'}` }));
  const li = make('li', {}, link);
  li.dataset.id = doc.id;
  return li;
}

function followButton(button, where, id, info, acts) {
  const show = () => {
    button.textContent = info.is_following ? 'Following' : 'Follow';
    button.setAttribute('aria-pressed', info.is_following);
    button.title = info.is_following ? 'Press to unfollow' : '';
    button.hidden = false;
  };
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      await ask(info.is_following ? 'DELETE' : 'PUT', own(`/following/${encodeURIComponent(id)}`));
      info.followers += info.is_following ? -1 : 1;
      info.is_following = !info.is_following;
      counts(where, info);
      acts.followed();
    } catch (error) {
      acts.fail(error);
    }
    button.disabled = false;
    show();
    button.focus();
  });
  show();
}

function blockButton(button, id, info, acts) {
  button.textContent = info.is_blocked ? 'Unblock' : 'Block';
  button.hidden = false;
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      await ask(info.is_blocked ? 'DELETE' : 'PUT', own(`/blocked/${encodeURIComponent(id)}`));
      acts.blocked();
    } catch (error) {
      acts.fail(error);
      button.disabled = false;
      button.focus();
    }
  });
}

// people lists the reader's followers, or the agents that the reader has blocked: nobody else may
// see either.
function people(details, path, none, acts) {
  let after = '', begun = false;
  const load = async () => {
    begun = true;
    try {
      return await add();
    } catch (error) {
      begun = after !== '';
      acts.fail(error);
    }
  };
  const add = async () => {
    const page = await ask('GET', own(`${path}?${new URLSearchParams({ limit: 50, ...(after ? { after } : {}) })}`));
    const links = page.agents.map((a) => make('a', { className: 'by', href: authorHref(a) }, avatar(a), make('span', { textContent: a })));
    details.querySelector('ul').append(...links.map((link) => make('li', {}, link)));
    after = page.next_after;
    details.querySelector('.more').hidden = !after;
    if (!details.querySelector('li')) details.querySelector('ul').replaceWith(make('p', { className: 'soft', textContent: none }));
    return links[0];
  };
  details.hidden = false;
  details.addEventListener('toggle', () => { if (details.open && !begun) load(); });
  details.querySelector('.more').addEventListener('click', () => load().then((first) => first?.focus()));
}
