// The shell of the console: which view the address names, and its navigation.
// handler/web/README.md says how to add a view.

import { fail, note, onToken } from '/assets/console/calls.js';

// VIEWS has the module of each view by its name, which is also that of its folder and its address. The
// folder has its elements, view.html.
const VIEWS = {
  overview: () => import('/assets/console/overview/overview.js'),
  ranking: () => import('/assets/console/ranking/ranking.js'),
  experiments: () => import('/assets/console/experiments/experiments.js'),
  reader: () => import('/assets/console/reader/reader.js'),
  items: () => import('/assets/console/items/items.js'),
  moderation: () => import('/assets/console/moderation/moderation.js'),
  system: () => import('/assets/console/system/system.js'),
};

const $ = (id) => document.getElementById(id);

// elementsOf reads the elements of a view once.
const read = {};
function elementsOf(name) {
  read[name] ??= fetch(`/assets/console/${name}/view.html`).then((answer) => {
    if (!answer.ok) throw new Error(`The server answered ${answer.status}. Load the page again.`);
    return answer.text();
  }).then((text) => new DOMParser().parseFromString(text, 'text/html').body);
  read[name].catch(() => { delete read[name]; }); // it is tried again
  return read[name];
}

const LOADING = 'Loading …';
let leave; // ends what the current view does in the background
let turn = 0;

// place returns the view that the address names, the first one by default, and its parameters.
function place() {
  const [, name, query] = /^(?:#\/)?([^?]*)\??(.*)$/s.exec(location.hash);
  return { name: Object.hasOwn(VIEWS, name) ? name : Object.keys(VIEWS)[0], query: new URLSearchParams(query) };
}

// open shows the view that the address names.
async function open() {
  const mine = ++turn, { name, query } = place();
  leave?.abort();
  leave = new AbortController();
  const { signal } = leave;
  $('main').className = 'waiting';
  $('confirm').close(''); // of the view that is left
  const slow = setTimeout(() => note(LOADING), 1000);
  for (const link of $('views').children) {
    if (link.hash === `#/${name}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  try {
    const [{ show }, elements] = await Promise.all([VIEWS[name](), elementsOf(name)]).catch((cause) => { throw new Error('The server cannot be reached. Load the page again in a moment.', { cause }); });
    if (mine !== turn) return;
    $('view').replaceChildren(...elements.cloneNode(true).childNodes);
    document.title = `${$('view-title').textContent} · Freshet`;
    await show(query, signal);
  } catch (error) {
    if (mine === turn) fail(error);
  }
  clearTimeout(slow);
  if (mine !== turn) return;
  if ($('note').textContent === LOADING) note('');
  $('main').classList.remove('waiting');
}

addEventListener('hashchange', async () => {
  if (location.hash && !location.hash.startsWith('#/')) return; // a link within the page
  note('');
  scrollTo({ top: 0 });
  await open();
  $('view-title')?.focus(); // so that keyboard and screen reader begin at the new view
});
document.querySelector('.skip').addEventListener('click', (e) => {
  e.preventDefault(); // the address names the view
  $('main').focus();
});
onToken(open);
open();
