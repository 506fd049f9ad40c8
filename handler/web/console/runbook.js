// Links to the sections of the runbook, docs/operations.md of this project.

import { make } from '/assets/api.js';

const RUNBOOK = 'https://github.com/freshet/freshet/blob/main/docs/operations.md';

// SECTIONS has the section about each thing that may be wrong.
export const SECTIONS = {
  p99: 'freshetslow', errors: 'fresheterrors', degraded: 'freshetdegraded', short: 'freshetrunningdry', queue_delay: 'freshetjobslate',
  filter_fill: 'freshetfilterfilling', dependency: 'freshetdependencydown', spool: 'freshetspoolfilling', recorder: 'freshetrecorderbehind',
  deferred: 'freshetrecorderdefers', dropped: 'freshetspooldropped', failed_jobs: 'freshetjobsdead',
};

// runbook returns a link to the section about something.
export const runbook = (about, says = 'What to do') => make('a', { href: `${RUNBOOK}#${SECTIONS[about]}`, textContent: says, target: '_blank', rel: 'noreferrer' });
