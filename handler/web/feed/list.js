// A list of cards that grows at its end. It is stored while its browser tab is open, so that it
// can be restored when the reader comes back.

import { make, ofTab } from '/assets/api.js';
import { reader } from '/assets/feed/reader.js';

export class List {
  // source returns pages like those of sources.js; card creates an element for an entry.
  constructor(name, source, card) {
    Object.assign(this, { name, source, card, turn: reader.turn, docs: [], cursor: '', more: false, lacks: false, loaded: false, busy: false, scroll: 0 });
    this.element = make('ol', { id: 'items' });
    this.element.setAttribute('aria-label', name);
  }

  // load fetches a page and adds it. It returns the new page with its cards, or null if the list
  // is already loading or the reader has changed.
  async load(action) {
    if (this.busy) return null;
    this.busy = true;
    this.element.ariaBusy = 'true';
    try {
      const page = await this.source(action, action === 'refresh' ? '' : this.cursor);
      if (this.turn !== reader.turn) return null;
      if (action === 'refresh') this.clear();
      Object.assign(this, { more: page.more, lacks: page.items.length === 0 && page.degraded !== undefined, cursor: page.cursor ?? '', loaded: true });
      return { ...page, cards: page.items.map((doc) => this.add(doc)) };
    } finally {
      this.busy = false;
      this.element.ariaBusy = 'false';
    }
  }

  add(doc) {
    const card = this.card(doc);
    card.dataset.id = doc.id;
    this.docs.push(doc);
    this.element.append(card);
    return card;
  }

  clear() {
    this.docs = [];
    this.element.replaceChildren();
  }

  find(id) { return [...this.element.children].find((card) => card.dataset.id === id); }

  // change updates an entry. The card that contains by already shows the change.
  change(id, change, by) {
    const doc = this.docs.find((d) => d.id === id);
    if (!doc) return;
    Object.assign(doc, change, { in_feed: { ...doc.in_feed, ...change.in_feed } });
    const old = this.find(id);
    if (old.contains(by)) return;
    const card = this.card(doc);
    card.dataset.id = id;
    old.replaceWith(card);
  }

  remove(id) {
    this.docs = this.docs.filter((d) => d.id !== id);
    this.find(id)?.remove();
  }

  get key() { return `list ${reader.agent} ${this.name}`; }

  // save stores the list for this browser tab.
  save() {
    if (!this.loaded) return;
    ofTab.set(this.key, JSON.stringify({ docs: this.docs, cursor: this.cursor, more: this.more, scroll: this.scroll }));
  }

  // restore restores the stored list and returns whether there was one.
  restore() {
    const kept = ofTab.json(this.key);
    if (!Array.isArray(kept?.docs)) return false;
    Object.assign(this, { cursor: kept.cursor, more: kept.more, scroll: kept.scroll, loaded: true });
    kept.docs.forEach((doc) => this.add(doc));
    return true;
  }
}
