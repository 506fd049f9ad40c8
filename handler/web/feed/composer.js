// The composer: a caption, images with descriptions, and the audience of the post.

import { make, newID } from '/assets/api.js';
import { circlesOf, takes } from '/assets/feed/groups.js';
import { reader } from '/assets/feed/reader.js';
import { upload } from '/assets/feed/upload.js';

const MOST = 10; // images per post
const LARGEST = 5 << 20; // bytes per image

const $ = (id) => document.getElementById(id);
const form = () => $('composer').querySelector('form');
const part = (selector) => form().querySelector(selector);

let picked = []; // {file, url, alt}: url displays it here, alt is the field for its description
let key = ''; // idempotency key of the current draft, so that publishing it again has no effect
let sending; // aborts the upload in progress
let published; // called with the published post

export function compose() {
  if ($('composer').open) return;
  offerCircles();
  $('composer').showModal();
  form().elements.caption.focus();
}

// offerCircles shows a box for each circle of the reader, and for each group and event that
// accepts their posts. It is called each time the composer opens, because the list or the reader
// may have changed.
async function offerCircles() {
  const { turn } = reader, set = part('.circles'), legend = set.firstElementChild;
  const chosen = new Set(circlesChosen());
  try {
    const all = (await Promise.all([circlesOf('owned'), circlesOf('joined')])).flat().filter(takes);
    if (turn !== reader.turn) return;
    set.replaceChildren(legend, ...all.map((c) => {
      const box = make('input', { type: 'checkbox', name: 'circle', value: c.id, checked: chosen.has(c.id) });
      return make('label', {}, box, ` ${c.name || c.id} (${c.size})`);
    }));
    if (all.length === 0) set.append(make('p', { className: 'soft', textContent: 'You have no circles, and are in no group that takes your posts.' }));
  } catch (error) {
    set.replaceChildren(legend, make('p', { className: 'soft', textContent: `Your circles could not be loaded: ${error.message}` }));
  }
}

const circlesChosen = () => [...form().querySelectorAll('[name=circle]:checked')].map((box) => box.value);

function say(text) { part('.said').textContent = text; }

function pick(files) {
  say('');
  for (const file of files) {
    if (picked.length === MOST) { say(`A post has at most ${MOST} images.`); break; }
    if (file.size > LARGEST) { say(`${file.name} is larger than 5 MB.`); continue; }
    add(file);
  }
}

function add(file) {
  const image = { file, url: URL.createObjectURL(file) };
  const img = make('img', { src: image.url, alt: '', width: 88, height: 88 });
  image.alt = make('input', { maxLength: 1000, placeholder: 'for those who cannot see it', autocomplete: 'off' });
  const remove = make('button', { type: 'button', className: 'remove', textContent: '×' });
  remove.setAttribute('aria-label', `Remove ${file.name}`);
  remove.addEventListener('click', () => {
    URL.revokeObjectURL(image.url);
    picked = picked.filter((p) => p !== image);
    image.row.remove();
    touched();
    part('input[type=file]').focus();
  });
  image.row = make('li', {}, img, make('label', {}, 'What it shows ', image.alt), remove);
  picked.push(image);
  $('picked').append(image.row);
}

function touched() {
  key = '';
  const { audience } = form().elements;
  part('.circles').hidden = audience.value !== 'circles';
}

// draft returns the post in the format of the API.
function draft() {
  const { caption, audience } = form().elements;
  const post = { caption: caption.value.trim() };
  if (audience.value === 'followers') post.audience = { followers: true };
  if (audience.value === 'circles') post.audience = { circles: circlesChosen() };
  if (picked.length) post.images = picked.map((p) => ({ alt: p.alt.value.trim() }));
  return post;
}

async function send(event) {
  event.preventDefault();
  if (sending) return;
  const post = draft();
  if (!post.caption && picked.length === 0) { say('Write something, or add an image.'); return; }
  if (post.audience?.circles?.length === 0) { say('Choose at least one circle or group.'); return; }
  key ||= newID();
  say('');
  sending = upload(post, picked.map((p) => p.file), key, progress);
  progress(0);
  busy(true);
  try {
    const created = await sending.done;
    clear();
    $('composer').close();
    published(created);
  } catch (error) {
    say(error.message);
  } finally {
    sending = null;
    busy(false);
  }
}

function busy(is) {
  part('.sending').hidden = !is;
  part('.stop').hidden = !is;
  part('.publish').disabled = is;
}

function progress(share) {
  part('progress').value = share;
  part('.sending span').textContent = share < 1 ? `${Math.floor(share * 100)} %` : 'Sent. The server is processing it.';
}

function clear() {
  picked.forEach((p) => URL.revokeObjectURL(p.url));
  picked = [];
  $('picked').replaceChildren();
  form().reset();
  touched();
}

// beginComposer takes a function that is called with a published post.
export function beginComposer(then) {
  published = then;
  form().addEventListener('submit', send);
  form().addEventListener('input', touched);
  part('input[type=file]').addEventListener('change', (e) => {
    pick(e.target.files);
    e.target.value = ''; // allows picking the same file again
  });
  part('.close').addEventListener('click', () => $('composer').close());
  part('.stop').addEventListener('click', () => sending?.stop());
  $('composer').addEventListener('click', (e) => { if (e.target === $('composer')) $('composer').close(); });
}
