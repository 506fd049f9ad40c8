// Calls of admin routes, and the messages of the page. The token is kept for this tab only.

import { Refused, call, ofTab } from '/assets/api.js';

const $ = (id) => document.getElementById(id);

// admin calls an admin route. It returns {data, etag}, or throws Refused with the server's message.
export const admin = (method, path, body, headers = {}, signal = undefined) => call(method, path, { body, headers: { ...headers, ...credentials() }, signal });

const credentials = () => (ofTab.get('admin') ? { 'X-Admin-Token': ofTab.get('admin') } : {});

// picture reads an image, which may be one that only moderators see, and returns an address for it.
export async function picture(path, signal) {
  const answer = await fetch(path, { headers: credentials(), signal });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}`);
  return URL.createObjectURL(await answer.blob());
}

// lister reads a route's list: first the first page of a query, button the next ones; put and change set it; draw(all, more) shows it.
export function lister(path, part, limit, button, signal, draw) {
  let all = [], cursor = null, query = {}, turn = 0;
  const put = (entries, next = null) => {
    turn++;
    [all, cursor] = [entries, next];
    draw(all, Boolean(next));
    if (!next && document.activeElement === button) button.previousElementSibling.focus();
    button.hidden = !next;
  };
  const read = async (more) => {
    const mine = ++turn, { data } = await admin('GET', `${path}?${new URLSearchParams({ ...query, limit, ...(more && { cursor }) })}`, undefined, {}, signal);
    if (mine === turn) put(more ? [...all, ...data[part]] : data[part], data.next_cursor);
  };
  button.addEventListener('click', () => read(true).catch(fail));
  return { put, change: (by) => put(by(all), cursor), first: (asked = query) => { query = asked; return read(false); } };
}

// refuse shows in a form what is wrong with it, at the field, or at the one that the message names. It is false if there is none.
export function refuse(form, why, field = [...form.elements].find((e) => e.name && new RegExp(`\\b${e.name}\\b`).test(why))) {
  for (const f of form.elements) if (f.name) f.setAttribute('aria-invalid', f === field);
  form.querySelector('[role=alert]').textContent = why;
  field?.focus();
  return Boolean(field);
}

// note shows a message to the user; screen readers announce it.
export function note(text) {
  $('note').textContent = text;
  $('note').className = '';
}

// fail shows an error, and focuses its field, if any. If the server refuses the token, it shows the
// field for one.
export function fail(error, field) {
  if (error.name === 'AbortError') return; // the view was left
  const closed = error instanceof Refused && (error.status === 401 || error.status === 403);
  if (closed) $('sign-in').hidden = false;
  $('note').textContent = closed ? `The console is for admins: ${error.message}.` : error.message;
  $('note').className = 'error';
  field?.focus();
}

// failed reports whether the message is that of an error.
export const failed = () => $('note').className === 'error';

// onToken calls then when the user has entered a token.
export function onToken(then) {
  $('sign-in').addEventListener('submit', (e) => {
    e.preventDefault();
    ofTab.set('admin', e.target.elements.token.value.trim());
    e.target.reset();
    e.target.hidden = true;
    note('');
    then();
  });
}
