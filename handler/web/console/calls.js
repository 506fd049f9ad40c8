// Calls of admin routes, and the message of the page. The token is kept for this tab only.

import { Refused, call, ofTab } from '/assets/api.js';

const $ = (id) => document.getElementById(id);

// admin calls an admin route. It returns {data, etag}, or throws Refused with the server's message.
export async function admin(method, path, body, headers = {}, signal = undefined) {
  const token = ofTab.get('admin');
  return call(method, path, { body, headers: token ? { ...headers, 'X-Admin-Token': token } : headers, signal });
}

// note shows a message to the user; screen readers announce it.
export function note(text) {
  $('note').textContent = text;
  $('note').className = '';
}

// fail shows an error, and focuses its field, if any. If the server refuses the token, it shows the
// field for one.
export function fail(error, field) {
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
