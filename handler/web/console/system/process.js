// What a server has counted about its dependencies and about impressions.

import { age, make, short } from '/assets/api.js';
import { runbook } from '/assets/console/runbook.js';
import { fill, number, text } from '/assets/console/tables.js';

const $ = (id) => document.getElementById(id);

const BREAKERS = { closed: ['ok', 'closed: calls are made'], 'half-open': ['warning', 'half-open: a few calls are made'], open: ['broken', 'open: calls fail at once'] };

const time = (x) => (x == null ? '–' : x < 1 ? `${short(1000 * x)} ms` : `${short(x)} s`);

// bytes writes a size.
const bytes = (n) => { for (const [unit, size] of [['GB', 1e9], ['MB', 1e6], ['kB', 1e3]]) if (n >= size) return `${short(n / size)} ${unit}`; return `${n} B`; };

// level returns a cell that says how bad something is, in words and in colour.
export const level = (kind, says) => make('td', {}, make('span', { className: `level ${kind}`, textContent: says }));

// showCalls has a row for each kind of call, with the breaker of its dependency.
export function showCalls(dependencies) {
  const rows = dependencies.flatMap((d) => {
    const [kind, says] = BREAKERS[d.breaker] ?? ['warning', d.breaker];
    const calls = d.calls.length ? d.calls : [{ call: '–', count: 0 }];
    return calls.map((c, i) => [d.name, level(kind, says), c.call, number(c.count.toLocaleString()), number(time(c.p50)), number(time(c.p99)),
      ...(i ? [number(''), number('')] : [number(d.failed.toLocaleString()), number(d.refused.toLocaleString())])]);
  });
  fill($('calls'), ['Dependency', 'Breaker', 'Call', 'Calls ', 'Half within ', '99 % within ', 'Failed ', 'Refused '], rows, 'None: everything is in this process.');
}

// showRecording tells what becomes of impressions, and lists the files of data_dir.
export function showRecording({ recording: r, files }) {
  const row = (name, value, bad, about) => [name, number(value), make('td', {}, ...(bad ? [runbook(about)] : []))];
  fill($('recording'), ['Impressions', 'Value ', 'Runbook'], [
    row('Recorded in a filter', r.recorded.toLocaleString()),
    row('Not confirmed in time', r.deferred.toLocaleString(), r.deferred > 0, 'deferred'),
    row('Longest wait of one that is not recorded', r.oldest_seconds ? age(r.oldest_seconds) : '–', r.oldest_seconds > 60, 'recorder'),
    row('Waiting on disk (spool)', bytes(r.spool_bytes), r.spool_bytes > 10e6, 'spool'),
    row('Dropped from disk', r.dropped.toLocaleString(), r.dropped > 0, 'dropped')]);
  fill($('files'), ['File of data_dir', 'Size ', 'Written'], files.map((f) => [text(f.name), number(bytes(f.bytes)), f.changed.startsWith('0001') ? '–' : new Date(f.changed).toLocaleString()]), 'None.');
}
