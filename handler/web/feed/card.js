// A card: an item or a post of a list, with the reader's actions.

import { age, make, now } from '/assets/api.js';
import { avatar, gallery } from '/assets/feed/images.js';
import { ask, reader } from '/assets/feed/reader.js';
import { marks, reason } from '/assets/feed/why.js';

export const isPost = (doc) => doc.id.startsWith('post:');
const isOwn = (item) => isPost(item) && item.author_id === reader.agent;
export const postHref = (id) => `/?post=${encodeURIComponent(id)}`;
export const authorHref = (id) => `/?author=${encodeURIComponent(id)}`;

// isElsewhere reports whether replies to a post belong on the site where it was published.
export const isElsewhere = (post) => /^https?:\/\//.test(post.url ?? '');

// asItem converts a post to the field names of items.
export function asItem(doc) {
  if (doc.created_at === undefined || doc.title !== undefined) return doc;
  const [title, ...rest] = (doc.caption ?? '').trim().split('\n');
  return {
    ...doc, title: title || doc.images?.find((i) => i.alt)?.alt || 'Photo', summary: rest.join(' ').trim(),
    update_time: doc.created_at, author_id: doc.author?.id,
  };
}

// changed notifies the lists of a change of an entry; null means it was deleted. by is the
// element that already shows the change.
export const changed = (id, change, by) => document.dispatchEvent(new CustomEvent('entry', { detail: { id, change, by } }));

export function timeOf(seconds) {
  const at = new Date(seconds * 1000);
  return make('time', { dateTime: at.toISOString(), title: at.toLocaleString(), textContent: `${age(now() - seconds)} ago` });
}

// makeCard creates the card of an entry. acts are fail(error), and hidden(item, card) and
// liked(item), which are called after the reader's actions.
export function makeCard(doc, acts) {
  const item = asItem(doc);
  const card = document.getElementById('card').content.firstElementChild.cloneNode(true);
  const part = (selector) => card.querySelector(selector);
  const link = part('h2 a');
  link.textContent = item.title;
  if (isPost(doc)) link.href = postHref(doc.id);
  else if (/^https?:\/\//.test(item.url ?? '')) Object.assign(link, { href: item.url, target: '_blank' });
  if (reader.agent && !isOwn(item)) link.addEventListener('click', () => { ask('POST', '/v1/events', { type: 'click', id: item.id }).catch(acts.fail); });
  byline(part('.meta'), doc, item);
  part('.summary').textContent = item.summary ?? '';
  part('.summary').after(...[isPost(doc) && gallery(doc, postHref(doc.id))].filter(Boolean));
  part('.tags').append(...(item.tags ?? []).map((tag) => make('span', { className: 'chip', textContent: tag })));
  for (const text of [link, part('.summary'), part('.tags')]) text.lang = languageOf(item);
  part('.reason').textContent = reason(doc);
  likeButton(part('.like'), doc, acts);
  if (isPost(doc)) comments(part('.comments'), doc);
  hideButton(card, part('.hide'), item, acts);
  card.classList.add('fresh');
  return card;
}

// languageOf returns the language of an item's texts, which screen readers pronounce them in; empty
// if it is unknown or not written as a tag.
function languageOf({ lang = '' }) {
  try { return Intl.getCanonicalLocales(lang.replaceAll('_', '-'))[0] ?? ''; } catch { return ''; }
}

// byline shows the author and the time of an entry.
function byline(meta, doc, item) {
  const id = item.author_id;
  if (id) {
    const name = make('span', { className: 'author', textContent: doc.author?.name || id });
    meta.append(make('a', { className: 'by', href: authorHref(id) }, avatar(id, doc.author?.name), name));
  }
  meta.append(isPost(doc) ? make('a', { href: postHref(doc.id), className: 'when' }, timeOf(item.update_time)) : timeOf(item.update_time));
  if (doc.audience && !doc.audience.public) meta.append(make('span', { className: 'chip', textContent: 'not public' }));
  meta.append(...marks(doc.in_feed));
}

// comments links to the replies of a post, or to the form for one.
function comments(link, doc) {
  const n = doc.comments ?? 0, mayReply = reader.agent && doc.in_feed?.can_reply && !isElsewhere(doc);
  link.textContent = n > 0 ? `${n.toLocaleString('en')} ${n === 1 ? 'reply' : 'replies'}` : 'Reply';
  Object.assign(link, { href: postHref(doc.id), hidden: n === 0 && !mayReply });
}

// opens shows a button that opens and closes a form, and calls before() when it opens.
export function opens(button, form, before) {
  button.hidden = false;
  button.addEventListener('click', () => {
    if (form.hidden) before?.();
    form.hidden = !form.hidden;
    if (!form.hidden) form.querySelector('textarea, button').focus();
  });
  form.querySelector('.cancel').addEventListener('click', () => { form.hidden = true; button.focus(); });
}

// likeButton likes an entry, and unlikes a post.
export function likeButton(button, doc, acts) {
  const post = isPost(doc);
  const show = () => {
    const is = doc.in_feed?.has_liked === true;
    button.setAttribute('aria-pressed', is);
    button.textContent = (is ? 'Liked' : 'Like') + (doc.likes > 0 ? ` · ${doc.likes.toLocaleString('en')}` : '');
    button.ariaDisabled = String(is && !post || post && doc.in_feed?.can_react === false && !is);
  };
  button.hidden = !reader.agent;
  button.addEventListener('click', async () => {
    const is = doc.in_feed?.has_liked === true;
    if (button.ariaDisabled === 'true') return;
    button.ariaDisabled = 'true'; // a disabled button would lose the focus
    try {
      const now = post ? await ask(is ? 'DELETE' : 'PUT', `/v1/posts/${doc.id}/like`) : { likes: doc.likes, has_liked: await like(doc.id) };
      Object.assign(doc, { likes: now.likes, in_feed: { ...doc.in_feed, has_liked: now.has_liked } });
      if (now.has_liked) acts.liked?.(asItem(doc));
      changed(doc.id, { likes: now.likes, in_feed: { has_liked: now.has_liked } }, button);
    } catch (error) {
      acts.fail(error);
    }
    show();
  });
  show();
}

async function like(id) {
  await ask('POST', '/v1/events', { type: 'like', id });
  return true;
}

// hideButton hides the card at once, and restores it if the server rejects the call.
function hideButton(card, button, item, acts) {
  button.hidden = !reader.agent || isOwn(item);
  button.addEventListener('click', async () => {
    const next = card.nextElementSibling?.querySelector('h2 a');
    card.hidden = true;
    next?.focus({ preventScroll: true });
    try {
      await ask('POST', '/v1/events', { type: 'hide', id: item.id });
    } catch (error) {
      card.hidden = false;
      button.focus();
      acts.fail(error);
      return;
    }
    acts.hidden(item);
    changed(item.id, null);
  });
}
