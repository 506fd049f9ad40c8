// The replies to a post, oldest first, and a form for writing one. The form is below the post, or
// in the reply that it answers.

import { make, newID } from '/assets/api.js';
import { authorHref, changed, isElsewhere, likeButton, opens, postHref, timeOf } from '/assets/feed/card.js';
import { avatar, gallery } from '/assets/feed/images.js';
import { ask, reader } from '/assets/feed/reader.js';
import { posts } from '/assets/feed/sources.js';
import { go } from '/assets/feed/views.js';

const PAGE = 20;

const mayNot = {
  followers: 'Only followers of its author may reply.',
  audience: 'Only the audience that its author chose may reply.',
  none: 'Nobody may reply.',
};

const nameOf = (doc) => doc.author.name || doc.author.id;
const link = (doc, text) => make('a', { href: postHref(doc.id), textContent: text });

// answered shows in an element the post that a reply answers.
async function answered(where, doc) {
  where.append('In reply to ');
  try {
    const to = await ask('GET', `/v1/posts/${encodeURIComponent(doc.reply_to)}`);
    where.append(link(to, `${nameOf(to)}: ${to.caption.trim().split('\n')[0] || 'Photo'}`));
  } catch (error) {
    where.append(error.status === 404 ? 'what is gone, or what you may not see' : link({ id: doc.reply_to }, 'this post'));
  }
  if (doc.root !== doc.reply_to) where.append(' · ', link({ id: doc.root }, 'All replies'));
}

// addReplies shows the replies of a post in its view. A reply has none; its view shows the post
// that it answers. acts are fail(error) and note(text).
export async function addReplies(view, doc, acts) {
  const replies = new Replies(view.querySelector('.replies'), doc, acts);
  await (doc.reply_to ? answered(view.querySelector('.answers'), doc) : replies.load());
}

class Replies {
  constructor(element, post, acts) {
    const part = (selector) => element.querySelector(selector);
    Object.assign(this, {
      post, acts, to: post, draft: '', key: '', cursor: '', more: true, busy: false, docs: new Map([[post.id, post]]),
      heading: part('h3'), none: part('.none'), home: part('.write'), form: part('form'), list: part('ol'), next: part('.more'),
    });
    this.mayReply = Boolean(reader.agent) && post.in_feed?.can_reply === true && !isElsewhere(post);
    this.form.hidden = !this.mayReply;
    element.hidden = Boolean(post.reply_to) && !this.mayReply;
    part('.may-not').textContent = this.mayReply || isElsewhere(post) || post.reply_to ? ''
      : !reader.agent ? 'To reply, say who you are.'
        : post.degraded ? 'Replies cannot be written at the moment.' : mayNot[post.reply] ?? 'You may not reply.';
    this.heading.hidden = Boolean(post.reply_to);
    this.form.addEventListener('submit', (event) => { event.preventDefault(); this.send(); });
    this.form.querySelector('.cancel').addEventListener('click', () => {
      if (this.busy) return;
      const { to } = this;
      this.answer(this.post);
      this.find(to.id)?.querySelector('.respond').focus();
    });
    this.next.addEventListener('click', () => this.load().then((first) => first?.focus()));
    this.answer(post);
    this.count(0);
  }

  find(id) { return [...this.list.children].find((row) => row.dataset.id === id); }

  // load adds a page and returns its first row. Rows of replies written here stay after the
  // loaded ones.
  async load() {
    this.next.disabled = true;
    let first;
    try {
      const page = await posts(`/v1/posts/${encodeURIComponent(this.post.id)}/replies`, this.cursor, PAGE, { order: 'oldest' });
      for (const doc of page.items) {
        const row = this.find(doc.id) ?? this.row(doc);
        row.classList.remove('ahead');
        this.list.insertBefore(row, this.list.querySelector('.ahead'));
        first ??= row;
      }
      Object.assign(this, { cursor: page.cursor, more: page.more });
    } catch (error) {
      this.acts.fail(error);
    }
    this.next.hidden = !this.more;
    this.next.disabled = false;
    this.count(0);
    return first;
  }

  row(doc) {
    const row = document.getElementById('reply').content.firstElementChild.cloneNode(true);
    const part = (selector) => row.querySelector(selector);
    this.docs.set(doc.id, doc);
    row.dataset.id = doc.id;
    part('article').setAttribute('aria-label', `Reply by ${nameOf(doc)}`);
    part('.meta').append(
      make('a', { className: 'by', href: authorHref(doc.author.id) }, avatar(doc.author.id, doc.author.name), make('span', { className: 'author', textContent: nameOf(doc) })),
      make('a', { className: 'when', href: postHref(doc.id) }, timeOf(doc.created_at)), ...(doc.edited_at ? [make('span', { textContent: 'edited' })] : []));
    if (doc.reply_to !== this.post.id) {
      const to = this.docs.get(doc.reply_to);
      part('.answers').append('In reply to ', to ? link(to, nameOf(to)) : 'a reply that is not shown');
    }
    part('.summary').textContent = doc.caption.trim();
    part('.summary').after(...[gallery(doc, postHref(doc.id))].filter(Boolean));
    likeButton(part('.like'), doc, this.acts);
    part('.respond').hidden = !this.mayReply || doc.in_feed?.can_reply === false;
    part('.respond').addEventListener('click', () => { if (!this.busy) this.answer(doc, row); });
    if (doc.author.id === reader.agent) this.deletes(row, doc);
    return row;
  }

  deletes(row, doc) {
    opens(row.querySelector('.delete'), row.querySelector('.sure'));
    row.querySelector('.sure').addEventListener('submit', async (event) => {
      event.preventDefault();
      const button = event.target.querySelector('.bad');
      if (this.busy || button.disabled) return;
      button.disabled = true;
      try {
        await ask('DELETE', `/v1/posts/${doc.id}`);
      } catch (error) {
        button.disabled = false;
        if (error.status !== 404) { this.acts.fail(error); return; } // 404: already deleted, by a call whose answer was lost
      }
      if (this.to === doc && !this.busy) this.answer(this.post);
      const next = row.nextElementSibling ?? row.previousElementSibling ?? this.heading;
      row.remove();
      this.docs.delete(doc.id);
      this.count(-1);
      this.acts.note('Deleted.');
      next.focus();
    });
  }

  // count adds to the number of replies and shows it.
  count(more) {
    const { post } = this;
    post.comments = Math.max(0, (post.comments ?? 0) + more);
    this.heading.textContent = post.comments > 0 ? `Replies · ${post.comments.toLocaleString('en')}` : 'Replies';
    this.none.hidden = Boolean(post.reply_to) || this.more || this.list.children.length > 0;
    this.none.textContent = post.comments > 0 ? 'None that you may see here.' : 'No replies yet.';
    if (more) changed(post.id, { comments: post.comments });
  }

  say(text) { this.form.querySelector('.said').textContent = text; }

  // answer moves the form to the post that it answers: into the row of a reply, or below the
  // post.
  answer(doc, row) {
    this.to = doc;
    (row ?? this.home).append(this.form);
    this.form.querySelector('.to').textContent = nameOf(doc);
    this.form.querySelector('.cancel').hidden = !row;
    this.say('');
    if (row) this.form.elements.caption.focus();
  }

  // send publishes the reply. Sending the same again, such as after a lost answer, publishes it
  // once.
  async send() {
    const { caption } = this.form.elements, { turn } = reader;
    if (this.busy) return;
    if (!caption.value.trim()) { this.say('Write something.'); return; }
    const draft = `${this.to.id} ${caption.value.trim()}`;
    if (this.draft !== draft) Object.assign(this, { draft, key: newID() });
    this.say('');
    this.wait(true);
    let written;
    try {
      written = await ask('POST', '/v1/posts', { caption: caption.value.trim(), reply_to: this.to.id }, { 'Idempotency-Key': this.key });
    } catch (error) {
      if (error.status === 401) this.acts.fail(error);
      else this.say(error.status === 404 ? 'The post you reply to was deleted, or you may no longer see it.' : error.message);
    }
    this.wait(false);
    if (!written && this.form.isConnected) caption.focus();
    if (written && turn === reader.turn) await this.show(written);
  }

  wait(busy) {
    this.busy = busy;
    this.form.elements.caption.readOnly = busy;
    this.form.querySelector('.publish').disabled = busy;
  }

  // show adds the written reply. If the post shown is itself a reply, the new reply belongs to
  // another post's list.
  async show(doc) {
    this.form.reset();
    this.draft = '';
    this.answer(this.post);
    if (this.post.reply_to) {
      if (this.form.isConnected) await go(postHref(doc.root));
    } else if (!this.find(doc.id)) {
      const row = this.row(doc);
      row.classList.toggle('ahead', this.more);
      this.list.append(row);
      this.count(1);
      row.focus();
    }
    this.acts.note('Published.');
  }
}
