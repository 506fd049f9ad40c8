// The reader view: what is known about a reader, what the next page would be, and why each item is on
// it or was left out.

import { Refused, make, short } from '/assets/api.js';
import { admin, fail, failed, note } from '/assets/console/calls.js';
import { stack } from '/assets/console/charts.js';
import { explained, inWords } from '/assets/console/scores.js';
import { fill, number, text } from '/assets/console/tables.js';
import { day, showShown, showSources } from '/assets/console/reader/shown.js';
import { showProfile } from '/assets/console/reader/profile.js';

const $ = (id) => document.getElementById(id);

// OUTCOMES says the outcome of a candidate in words.
const OUTCOMES = {
  kept: 'for a later page', seen: 'shown before', pending: 'shown recently', muted: 'muted, or in a language that the reader does not read', gone: 'deleted, hidden by moderators, or changed since it was indexed',
  group: 'a better item of its group takes its place', same_story: 'an item of its page tells the same story', outside: 'ranked below what the session holds',
  unknown: 'it does not exist, or the reader may not see it', own: 'written by the reader', future: 'dated later', unfound: 'not indexed yet', paged: 'on the page',
};

const MOST_LISTED = 200;

let turn = 0;

function whyLeft(c) {
  return [OUTCOMES[c.outcome] ?? c.outcome, c.day && `on ${day(c.day)}`, c.better && `instead: ${c.better}`].filter(Boolean).join(', ');
}

// placed says why an item has its place: its score, except for variety, exploration and home's pattern.
function placed(c) {
  const v = c.variety, crowd = ['author', 'site', 'tag'].filter((k) => v?.[k] && v[k].factor < 1).map((k) => `number ${v[k].nth} of ${k} ${v[k].name}`);
  return [
    v?.source === 'explore' && 'drawn at random to explore',
    v?.right && (v.right === v.source ? `its place is for ${v.right}` : `${v.source}, since ${v.right} has no more`),
    crowd.length && `score × ${short(v.factor)} for variety: ${crowd.join(', ')}`,
    c.shown_before && `shown before${c.day ? ` on ${day(c.day)}` : ''}`,
    v && c.better && `set aside at first for ${c.better}`,
  ].filter(Boolean).join('; ');
}

function showPage(x) {
  const page = x.candidates.filter((c) => c.outcome === 'paged').sort((a, b) => (a.variety?.place ?? 0) - (b.variety?.place ?? 0));
  const most = Math.max(...page.map((c) => c.score), 0);
  fill($('page'), ['Place ', 'Item', 'Score', 'Placed'], page.map((c, i) => [
    number(i + 1), text(c.title || c.id), make('td', { className: 'text score-cell' }, stack(explained(c), most, `Score ${short(c.score)}`), inWords(c)), text(placed(c) || 'by its score')]),
  'Nothing for this reader at that time.');
}

// showLeft lists what was left out, of one outcome or of all.
function showLeft(x, only) {
  const left = x.candidates.filter((c) => c.outcome !== 'paged' && (only === '' || c.outcome === only));
  fill($('left'), ['Rank ', 'Item', 'Why not', 'Score'], left.slice(0, MOST_LISTED).map((c) => [number(c.rank), text(c.title || c.id), text(whyLeft(c)), text(inWords(c))]), 'None.');
  $('left-more').hidden = left.length <= MOST_LISTED;
  $('left-more').textContent = `The first ${MOST_LISTED} of ${left.length} are shown; name an item above to see why it is missing.`;
}

function showCounts(x, profile) {
  const { rounds, recalled, paged, ...others } = x.counts;
  const chosen = $('outcome').value;
  $('outcome').replaceChildren(make('option', { value: '', textContent: 'all' }),
    ...Object.entries(others).filter(([, n]) => n > 0).map(([key, n]) => make('option', { value: key, textContent: `${OUTCOMES[key] ?? key}: ${n.toLocaleString()}`, selected: key === chosen })));
  $('summary').textContent = `${recalled.toLocaleString()} candidates in ${rounds} round${rounds === 1 ? '' : 's'}, ${paged} on the page, in ${Math.round(x.times_ms.total)} ms, by ${x.variant === 'control' ? 'the ranking in force' : `the experiment ${x.variant}`}.`
    + (x.degraded ? ` Missing: ${x.degraded.join(', ')}.` : '') + (x.left_out ? ` Not known for that time: ${x.left_out.join(', ').replaceAll('_', ' ')}.` : '')
    + (x.out_of_time ? ' There was no time for more candidates.' : '') + (profile ? '' : ' No profile is stored under this id: check its spelling, unless the reader is new.');
}

async function explain(signal) {
  const { agent, feed, wanted, at } = $('ask').elements, mine = ++turn;
  if (!$('ask').reportValidity()) return;
  const body = { agent_id: agent.value.trim(), feed: feed.value.trim() };
  if (wanted.value.trim()) body.item = wanted.value.trim();
  if (at.value) body.at = Math.floor(new Date(at.value).getTime() / 1000);
  history.replaceState(null, '', `#/reader?${new URLSearchParams({ agent: body.agent_id, feed: body.feed, ...(body.item && { item: body.item }), ...(at.value && { at: at.value }) })}`);
  $('answers').setAttribute('aria-busy', 'true');
  try {
    const [{ data: x }, profile] = await Promise.all([admin('POST', '/v1/explain', body, {}, signal), readProfile(body.agent_id, signal)]);
    if (mine !== turn) return;
    $('verdict').hidden = !x.item;
    $('verdict').textContent = x.item ? `${x.item.title || x.item.id}: ${x.item.reason} (${x.feed}, ${at.value ? `on ${new Date(x.origin).toLocaleString()}` : 'now'})` : '';
    showProfile(profile);
    showCounts(x, profile);
    showPage(x);
    showLeft(x, $('outcome').value);
    showShown(x);
    showSources(x);
    $('outcome').onchange = () => showLeft(x, $('outcome').value);
    $('answers').hidden = false;
    if (failed()) note('');
  } catch (error) {
    if (mine !== turn || signal.aborted) return;
    $('answers').hidden = $('verdict').hidden = true; // they are of another question
    fail(error, [400, 404].includes(error.status) ? { agent_id: agent, feed, 'bad time': at }[/agent_id|feed|bad time/.exec(error.message)?.[0]] ?? wanted : undefined);
  }
  $('answers').removeAttribute('aria-busy');
}

// readProfile returns the profile, or null for a reader without one. Without an admin token, a demo
// answers only the agent itself.
async function readProfile(agent, signal) {
  try {
    return (await admin('GET', `/v1/agents/${encodeURIComponent(agent)}/profile`, undefined, { 'X-Agent-ID': agent }, signal)).data;
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  }
}

// show fills the view. The query can have agent, feed, item and at.
export async function show(query, signal) {
  turn++;
  signal.addEventListener('abort', () => { turn++; });
  for (const [name, field] of [['agent', 'agent'], ['feed', 'feed'], ['item', 'wanted'], ['at', 'at']]) { // elements.item is a method
    if (query.get(name)) $('ask').elements[field].value = query.get(name);
  }
  $('ask').addEventListener('submit', (e) => {
    e.preventDefault();
    explain(signal);
  });
  if (query.get('agent')) await explain(signal);
}
