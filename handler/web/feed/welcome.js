// Onboarding of a new reader: suggested authors, selected together and followed with one call.

import { make } from '/assets/api.js';
import { avatar } from '/assets/feed/images.js';
import { ask, own, reader } from '/assets/feed/reader.js';

const MOST = 12; // authors to choose from
const AGAIN = 3000; // ms until suggestions are requested again
const TRIES = 10;

const $ = (id) => document.getElementById(id);
let acts; // prepare() and fail(error)
let asked = 0; // changes with each start, so that a late answer is ignored

// suggested returns suggested authors; nothing if the request fails.
export async function suggested() {
  try {
    return (await ask('GET', own(`/suggestions?limit=${MOST}`))).authors;
  } catch {
    return undefined;
  }
}

// welcome shows these authors to a new reader, or the first ones available soon after; without
// a list it stays hidden.
export async function welcome(authors) {
  const turn = ++asked;
  $('welcome').hidden = true;
  for (let tries = 1; authors && authors.length === 0 && tries <= TRIES; tries++) {
    await new Promise((r) => { setTimeout(r, AGAIN); });
    if (turn !== asked) return;
    authors = await suggested();
  }
  if (turn !== asked || !authors?.length) return;
  $('welcome').querySelector('ul').replaceChildren(...authors.map(choice));
  $('welcome').hidden = false;
}

function choice({ author, card, reason, count }) {
  const box = make('input', { type: 'checkbox', name: 'author', value: author });
  const why = { followed_by: `Followed by ${count} or more of your friends`, popular: 'Popular at the moment' }[reason] ?? 'New here';
  return make('li', {}, make('label', {}, box, avatar(author, card.name), make('span', {}, make('b', { textContent: card.name || author }), make('span', { className: 'soft', textContent: why }))));
}

// beginWelcome takes the callbacks prepare(), which reloads the feeds, and fail(error).
export function beginWelcome(what) {
  acts = what;
  const form = $('welcome').querySelector('form');
  form.addEventListener('submit', async (e) => {
    e.preventDefault();
    const { turn } = reader, authors = [...form.querySelectorAll(':checked')].map((box) => box.value);
    const [go, said] = [form.querySelector('.main'), $('welcome').querySelector('.said')];
    go.disabled = true;
    said.textContent = 'Preparing your feed …';
    try {
      if (authors.length > 0) await ask('POST', own('/following'), { authors });
      if (turn === reader.turn) await acts.prepare();
      if ($('welcome').hidden) $('panel').focus({ preventScroll: true }); // so that the focus is not lost
    } catch (error) {
      acts.fail(error);
    } finally {
      go.disabled = false;
      said.textContent = '';
    }
  });
  form.querySelector('.skip-it').addEventListener('click', () => {
    welcome();
    $('panel').focus({ preventScroll: true });
  });
}
