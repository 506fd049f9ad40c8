// A reader's declared and learned interests.

import { make, short } from '/assets/api.js';
import { learnedChips } from '/assets/feed/learned.js';
import { ask, own, reader } from '/assets/feed/reader.js';

const CHIPS = 10; // number of learned interests shown, the strongest ones

const $ = (id) => document.getElementById(id);
let profile = {};
let after; // callbacks for a changed profile

export const learnedNow = () => profile.learned;

export async function loadProfile() {
  const turn = reader.turn;
  try {
    const read = await ask('GET', own('/profile'));
    if (turn !== reader.turn) return;
    profile = read;
    show();
  } catch { /* a reader without a profile gets fresh items */ }
}

export function clearProfile() {
  profile = {};
  show();
}

const termOf = (k) => (typeof k === 'string' ? k : k.term);

function show() {
  const interests = Object.entries(profile.interests ?? {}).sort((a, b) => b[1] - a[1]);
  const buttons = interests.map(([tag, weight]) => remover('', `${tag} ${short(weight)} ×`, 'remove the interest',
    () => changeInterests((all) => { delete all[tag]; })));
  const keywords = (profile.keywords ?? []).map((k) => remover('keyword', `“${termOf(k)}” ${short(k.weight ?? 1)} ×`,
    'remove the keyword',
    () => change({ keywords: profile.keywords.filter((other) => other !== k) })));
  const add = make('button', { textContent: '+ interest' });
  add.addEventListener('click', () => {
    $('interest').hidden = !$('interest').hidden;
    $('interest').elements.tag.focus();
  });
  const before = [...$('interests').children], at = before.indexOf(document.activeElement);
  $('interests').replaceChildren(...buttons, ...keywords, add);
  if (at >= 0) (at === before.length - 1 ? add : $('interests').children[at] ?? add).focus();
  const all = learnedChips(profile.learned);
  const learned = all.slice(0, CHIPS);
  if (all.length > CHIPS) learned.push(make('span', { className: 'soft', textContent: `and ${all.length - CHIPS} more` }));
  $('learned').hidden = learned.length === 0;
  $('learned').replaceChildren(make('span', { className: 'soft', textContent: 'Learned' }), ...learned);
  $('profile').querySelector('summary span').textContent = interests.slice(0, 3).map(([tag]) => tag).join(', ');
}

// remover returns a button whose accessible name begins with its visible text, so that users of
// voice control can say what they see.
function remover(className, textContent, does, act) {
  const b = make('button', { className, textContent });
  b.setAttribute('aria-label', `${textContent}: ${does}`);
  b.addEventListener('click', act);
  return b;
}

async function changeInterests(how) {
  const interests = { ...profile.interests };
  how(interests);
  await change({ interests });
}

async function change(what) {
  // Fields not named are unchanged; the hidden items known here may be stale.
  const { muted_items: _, learned, ...rest } = profile;
  try {
    profile = { learned, ...await ask('PUT', own('/profile'), { ...rest, ...what }) };
    show();
    await after.changed();
  } catch (error) {
    after.fail(error);
  }
}

// beginInterests takes the callbacks changed() and fail(error).
export function beginInterests(acts) {
  after = acts;
  $('profile').open = matchMedia('(min-width: 46rem)').matches;
  $('interest').addEventListener('submit', (e) => {
    e.preventDefault();
    const { tag, weight } = e.target.elements;
    changeInterests((all) => { all[tag.value.trim()] = Number(weight.value); });
    e.target.reset();
    e.target.hidden = true;
    $('interests').lastElementChild.focus();
  });
}
