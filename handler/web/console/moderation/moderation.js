// The moderation view: what agents have reported, what it is, what moderators decide, and the audit log.

import { Refused, age, make, now } from '/assets/api.js';
import { admin, fail, failed, lister, note, picture, refuse } from '/assets/console/calls.js';
import { button, fill, number, text } from '/assets/console/tables.js';
import { READ, nameOf, time } from '/assets/console/moderation/objects.js';

const $ = (id) => document.getElementById(id);

// ACTIONS has the words of each action, before and after it, and whether it needs a reason.
const ACTIONS = {
  hold: ['Hold', 'is held'], remove: ['Remove', 'is removed', true], restore: ['Restore', 'is shown again'], suspend: ['Suspend the author', 'is suspended', true],
  lift: ['End the suspension', 'is not suspended any more'], dismiss: ['Dismiss the reports', 'stays as it is'],
};

let left = null; // is aborted when the view is left
let reports, log;
let listed = []; // the reported objects that are loaded
let turn = 0;

// attempt tells the user what goes wrong.
const attempt = (what) => what.then(() => { if (failed()) note(''); }, fail);

function drawReports(all) {
  listed = all;
  fill($('reports'), ['What', 'Reports ', 'Reasons', 'Last report', 'Last decision', 'Action'], all.map((o) => {
    const reasons = Object.entries(o.reasons).sort(([, a], [, b]) => b - a).map(([why, n]) => `${why.replaceAll('_', ' ')} ${n}`);
    return [text(nameOf(o)), number(o.count), text(reasons.join(', ')), `${age(now() - o.latest)} ago`, o.decision ? `${o.decision}, ${time(o.decided_at)}` : '–', make('td', {}, button('Open', () => attempt(open(o)), `Open ${nameOf(o)}`))];
  }), 'Nothing is reported.');
}

const drawLog = (all) => fill($('log'), ['When', 'Who', 'Did', 'About', 'Reason'], all.map((e) => [time(e.at), e.who, e.action,
  text(!e.object ? 'posts of all authors' : e.object.id ? nameOf(e.object) : `an ${e.object.kind} that was erased`), text(e.reason ?? '')]), 'Nobody has done anything.');

// open shows an object, the newest reports about it, and what can be decided.
async function open({ kind, id }) {
  const mine = ++turn;
  const found = await READ[kind](id, left).catch((error) => {
    if (!(error instanceof Refused && error.status === 404)) throw error;
    return { rows: [['State', text('It does not exist any more: dismiss the reports.')]], acts: ['dismiss'] };
  });
  if (mine !== turn) return;
  history.replaceState(null, '', `#/moderation?${new URLSearchParams({ kind, id })}`);
  $('object').hidden = false;
  $('object-title').textContent = nameOf({ kind, id });
  fill($('about'), ['What', 'Is'], found.rows);
  fill($('newest'), ['Reported by', 'Reason', 'Details', 'When'], (listed.find((o) => o.kind === kind && o.id === id)?.reports ?? []).map((r) => [
    r.agent, r.reason.replaceAll('_', ' '), text(r.details ?? ''), time(r.at)]), 'It is not among the reports that are listed below.');
  $('decide').reset();
  refuse($('decide'), '', null);
  $('ends').hidden = !found.author;
  $('acts').replaceChildren($('acts').firstElementChild, ...found.acts.map((action) => button(ACTIONS[action][0], () => decide(action, { kind, id }, found.author))));
  $('pictures').replaceChildren(...(found.images ?? []).map(imageOf));
  $('object-title').focus();
}

function imageOf({ thumbnail, alt }) {
  const image = make('img', { className: 'picture', alt: alt || 'An image without a description' });
  image.addEventListener('load', () => URL.revokeObjectURL(image.src));
  picture(thumbnail, left).then((src) => { image.src = src; }, (error) => image.replaceWith(make('p', { className: 'error', textContent: `An image cannot be shown: ${error.message}.` })));
  return image;
}

async function decide(action, object, author) {
  const { reason, until } = $('decide').elements, [, done, needed] = ACTIONS[action], suspends = action === 'suspend', signal = left;
  const about = suspends || action === 'lift' ? { kind: 'author', id: author } : object, why = reason.value.trim(), ends = Math.floor(new Date(until.value) / 1000);
  if (needed && !why) return refuse($('decide'), 'Enter a reason: the author reads it.', reason);
  if (suspends && !(ends > now())) return refuse($('decide'), 'Enter a time in the future.', until);
  refuse($('decide'), '', null);
  $('acts').disabled = true; // until it is answered
  try {
    const { data } = await admin('POST', '/v1/moderation', { object: about, action, ...(why && { reason: why }), ...(suspends && { until: ends }) });
    const says = `${nameOf(about)} ${done}${data.changed ? '' : ', as it was before'}.`;
    if (signal.aborted) return note(says); // in another view
    const unread = await Promise.all([reports.first(), log.first()]).then(() => '', (error) => ` The lists are of before it: ${error.message}`);
    $('object').hidden = about.kind === object.kind;
    if ($('object').hidden) $('reports-title').focus();
    else await open(object); // the reports about the post are still to be decided
    note(says + unread);
  } catch (error) {
    if (signal.aborted || error.status !== 400 || !refuse($('decide'), error.message)) fail(error, $('object-title'));
  }
  if (!signal.aborted) $('acts').disabled = false;
}

// show fills the view. The query can name an object, by its kind and id.
export async function show(query, signal) {
  left = signal;
  turn++;
  reports = lister('/v1/reports', 'objects', 20, $('more'), signal, drawReports);
  log = lister('/v1/audit', 'entries', 20, $('earlier'), signal, drawLog);
  $('decide').addEventListener('submit', (e) => e.preventDefault());
  $('look').addEventListener('change', (e) => { if (e.target.name === 'state') attempt(reports.first({ state: e.target.value })); });
  $('look').addEventListener('submit', (e) => {
    e.preventDefault();
    const { kind, id } = e.target.elements;
    attempt(open({ kind: kind.value, id: id.value.trim() }));
  });
  try {
    await Promise.all([reports.first({ state: 'open' }), log.first()]);
  } catch (error) {
    if (!(error instanceof Refused && error.status === 404)) throw error;
    $('none').hidden = false;
    $('some').hidden = true;
  }
  const [kind, id] = [query.get('kind'), query.get('id')];
  if (Object.hasOwn(READ, kind) && id && $('none').hidden) await open({ kind, id });
}
