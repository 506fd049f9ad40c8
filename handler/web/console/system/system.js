// The system view: dependencies, what a check of them finds, jobs, and settings in force.

import { Refused, age, make } from '/assets/api.js';
import { admin, fail, note } from '/assets/console/calls.js';
import { runbook } from '/assets/console/runbook.js';
import { button, fill, number, text } from '/assets/console/tables.js';
import { level, showCalls, showRecording } from '/assets/console/system/process.js';

const $ = (id) => document.getElementById(id);

const LEVELS = ['broken', 'warning', 'ok']; // the worst first
const STATES = { up: 'ok', degraded: 'warning', down: 'broken' };

// dependencies shows the answer of /readyz, which has data even when the server is not ready.
async function dependencies(signal) {
  const answer = await (await fetch('/readyz', { signal })).json();
  const rows = Object.entries(answer.data.dependencies).map(([name, d]) => [
    name, level(d.warning || (d.optional && d.state === 'down') ? 'warning' : STATES[d.state], d.state), text([d.error, d.warning,
      d.seconds_left && `its cached data can replace it for ${age(d.seconds_left)}`].filter(Boolean).join('; ')),
    d.optional ? 'answers are degraded' : 'no answers', make('td', {}, ...(d.state === 'up' && !d.warning ? [] : [runbook('dependency')]))]);
  fill($('dependencies'), ['Dependency', 'State', 'Why', 'Without it', 'Runbook'], rows, 'None: everything is in this process.');
}

async function diagnose(signal) {
  $('check').disabled = true;
  $('checking').textContent = 'Checking …';
  try {
    const { data } = await admin('POST', '/v1/doctor', undefined, {}, signal);
    const found = data.findings.toSorted((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level));
    const bad = found.filter((f) => f.level !== 'ok').length;
    $('checking').textContent = bad ? `${bad} of ${found.length} checks found something to do, see below.` : `All ${found.length} checks are fine.`;
    fill($('findings'), ['Level', 'What', 'Found', 'What to do'], found.map((f) => [level(f.level, f.level), text(f.what), text(f.detail), text(f.fix)]));
  } catch (error) {
    if (!signal.aborted) $('checking').textContent = `The check failed: ${error.message}`;
  }
  $('check').disabled = false;
}

// jobs shows the queue, and the failed jobs with a button for each.
async function jobs(signal) {
  const found = await admin('GET', '/v1/jobs?state=failed&limit=50', undefined, {}, signal).catch((error) => {
    if (error instanceof Refused && error.status === 404) return null; // no posts
    throw error;
  });
  $('jobs-none').hidden = found !== null;
  $('jobs-some').hidden = found === null;
  if (!found) return;
  const { queue, jobs: failed, next_after: more } = found.data;
  $('oldest').textContent = queue.oldest_seconds > 0 ? `The longest overdue job has been due for ${age(queue.oldest_seconds)}.` : 'No job is overdue.';
  fill($('queue'), ['Kind', 'State', 'Jobs '], queue.rows.map((r) => [r.kind, level(r.state === 'failed' ? 'warning' : 'ok', r.state), number(r.count)]), 'The queue is empty.');
  fill($('failed'), ['Job ', 'Kind', 'About', 'Attempts ', 'Error', 'Action'], failed.map((j) => [
    number(j.id), j.kind, text(j.key), number(j.attempts), text(j.error ?? ''), make('td', {}, retry(j, signal))]), 'No job has failed.');
  $('more-failed').hidden = more === null;
  $('failed-help').hidden = failed.length === 0;
  $('failed-help').replaceChildren(runbook('failed_jobs', 'What to do about failed jobs'));
}

function retry(job, signal) {
  const again = button('Try again', async () => {
    again.disabled = true;
    try {
      await admin('POST', `/v1/jobs/${job.id}/retry`, undefined, {}, signal);
      await jobs(signal);
      note(`Job ${job.id} is tried again.`);
      $('failed-title').focus();
    } catch (error) {
      again.disabled = false;
      fail(error);
    }
  }, `Try job ${job.id} again`);
  return again;
}

const ORIGINS = { default: 'the default', file: 'file', environment: 'variable', flag: 'flag', program: 'the program' };

function settings(all) {
  const words = $('filter').elements.words.value.trim().toLowerCase(), changed = $('filter').elements.changed.checked;
  const shown = all.filter((s) => (!changed || s.origin !== 'default') && `${s.key} ${s.help} ${s.source}`.toLowerCase().includes(words));
  fill($('settings'), ['Setting', 'Value', 'From', 'Meaning'], shown.map((s) => [s.key, text(s.value), text(`${ORIGINS[s.origin] ?? s.origin} ${s.source}`.trim()), text(s.help)]), 'No setting matches.');
}

// show fills the view.
export async function show(_, signal) {
  $('check').addEventListener('click', () => diagnose(signal));
  const { data } = await admin('GET', '/v1/system', undefined, {}, signal);
  $('about').textContent = `Version ${data.version}. Items are in ${data.items}, impressions in ${data.impressions}, posts ${data.posts === 'off' ? 'are off' : `in ${data.posts}`}.`;
  showCalls(data.dependencies);
  showRecording(data);
  settings(data.settings);
  $('filter').addEventListener('submit', (e) => e.preventDefault());
  $('filter').addEventListener('input', () => settings(data.settings));
  diagnose(signal);
  await Promise.all([dependencies(signal), jobs(signal)]);
}
