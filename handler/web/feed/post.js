// The view of a single post: its caption and images, and the actions of its author.

import { make } from '/assets/api.js';
import { asItem, authorHref, changed, isElsewhere, likeButton, opens, timeOf } from '/assets/feed/card.js';
import { avatar, imagesOf, picture } from '/assets/feed/images.js';
import { ask, reader } from '/assets/feed/reader.js';
import { addReplies } from '/assets/feed/replies.js';
import { reason } from '/assets/feed/why.js';

// postView returns an element that shows the post. acts are fail(error), note(text) and gone().
export async function postView(id, acts) {
  const doc = await ask('GET', `/v1/posts/${encodeURIComponent(id)}`);
  const view = document.getElementById('post').content.firstElementChild.cloneNode(true);
  const part = (selector) => view.querySelector(selector);
  const name = doc.author.name || doc.author.id;
  part('.meta').append(
    make('a', { className: 'by', href: authorHref(doc.author.id) }, avatar(doc.author.id, doc.author.name), make('span', { className: 'author', textContent: name })),
    timeOf(doc.created_at), ...(doc.edited_at ? [make('span', { textContent: 'edited' })] : []),
    ...(doc.audience?.public || doc.reply_to ? [] : [make('span', { className: 'chip', textContent: 'not public' })]));
  fill(view, doc);
  if (doc.in_feed?.reason) part('.reason').textContent = `${reason(doc)}.`;
  likeButton(part('.like'), doc, acts);
  if (doc.in_feed?.can_reply && isElsewhere(doc)) Object.assign(part('.reply'), { href: doc.url, hidden: false });
  if (doc.author.id === reader.agent) ownerActs(view, doc, acts);
  await addReplies(view, doc, acts);
  return view;
}

// fill shows the fields that an edit may change.
function fill(view, doc) {
  const item = asItem(doc);
  view.querySelector('h2').textContent = item.title;
  view.querySelector('.summary').textContent = item.summary;
  view.querySelector('.tags').replaceChildren(...(doc.tags ?? []).map((tag) => make('span', { className: 'chip', textContent: tag })));
  view.querySelector('.pictures').replaceChildren(...imagesOf(doc).map((image) => make('figure', {}, picture(doc, image),
    ...(image.alt ? [make('figcaption', { className: 'soft', textContent: image.alt })] : []))));
}

function ownerActs(view, doc, acts) {
  const forms = { edit: view.querySelector('.editing'), delete: view.querySelector('.sure') };
  opens(view.querySelector('button.edit'), forms.edit, () => fillForm(forms.edit, doc));
  opens(view.querySelector('button.delete'), forms.delete);
  forms.edit.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const now = await ask('PATCH', `/v1/posts/${doc.id}`, edited(forms.edit, doc));
      Object.assign(doc, now);
      fill(view, doc);
      forms.edit.hidden = true;
      view.querySelector('button.edit').focus();
      changed(doc.id, now);
    } catch (error) { acts.fail(error); }
  });
  forms.delete.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      await ask('DELETE', `/v1/posts/${doc.id}`);
    } catch (error) {
      if (error.status !== 404) { acts.fail(error); return; } // 404: already deleted, by a call whose answer was lost
    }
    changed(doc.id, null);
    acts.gone();
  });
}

function fillForm(form, doc) {
  form.elements.caption.value = doc.caption;
  form.querySelector('.alts').replaceChildren(...(doc.images ?? []).map((image, i) => make('label', {}, `What image ${i + 1} shows `,
    make('input', { name: 'alt', value: image.alt ?? '', maxLength: 1000, autocomplete: 'off' }))));
}

function edited(form, doc) {
  const caption = form.elements.caption.value.trim();
  if (!doc.images?.length) return { caption };
  return { caption, alts: [...form.querySelectorAll('[name=alt]')].map((input) => input.value.trim()) };
}
