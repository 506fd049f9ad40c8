// Replays of clicks: where rankings would have placed what was clicked.

import { admin } from '/assets/console/calls.js';

const K = 20;
const MOST_RANKINGS = 40; // of one call
const BATCH = 50;         // clicks of one call
const MOST_BYTES = 50e6;

// textOf reads a file, compressed by gzip or not.
export async function textOf(file) {
  if (!file.name.endsWith('.gz')) return file.text();
  return new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

// clicksOf reads a file of events, an object a line. Other events than clicks are counted.
export function clicksOf(text) {
  if (text.length > MOST_BYTES) throw new Error('The file is too large for a browser: replay it with the command freshet ranking replay.');
  const clicks = [];
  let skipped = 0;
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    let event;
    try { event = JSON.parse(line); } catch { throw new Error(`Line ${i + 1} of the file is no JSON object. It must be NDJSON.`); }
    if ((event?.type ?? 'click') !== 'click') { skipped++; continue; }
    if (!event?.agent_id || !event.id || !event.at) throw new Error(`Line ${i + 1} of the file lacks agent_id, id or at.`);
    clicks.push({ agent_id: event.agent_id, id: event.id, at: event.at });
  }
  if (clicks.length === 0) throw new Error('The file has no clicks.');
  return { clicks, skipped };
}

const SCORES = {
  ndcg: (rank) => (rank > 0 && rank <= K ? 1 / Math.log2(rank + 1) : 0),
  hit_rate: (rank) => (rank > 0 && rank <= K ? 1 : 0),
  mrr: (rank) => (rank > 0 ? 1 / rank : 0),
};

// replay sends the clicks in batches. progress is told how many are done. measure(metric, i) of the result
// is the mean of a ranking, {value, margin, n}; the first ranking is the one that a gain is over.
export async function replay(clicks, rankings, progress, signal) {
  if (rankings.length > MOST_RANKINGS) throw new Error(`At most ${MOST_RANKINGS} values at once.`);
  const readers = new Map(); // the ranks of each reader's clicks
  let scored = 0, unscored = 0;
  for (let at = 0; at < clicks.length; at += BATCH) {
    const part = clicks.slice(at, at + BATCH);
    const { data } = await admin('POST', '/v1/replay', { clicks: part, rankings }, {}, signal);
    data.outcomes.forEach(({ state, ranks }, i) => {
      if (state !== 'ranked' && state !== 'unranked') { unscored++; return; }
      scored++;
      readers.set(part[i].agent_id, [...(readers.get(part[i].agent_id) ?? []), ranks]);
    });
    progress(Math.min(at + BATCH, clicks.length), clicks.length);
  }
  const measure = (metric, i) => {
    const score = metric === 'ndcg_gain' ? (ranks) => SCORES.ndcg(ranks[i]) - SCORES.ndcg(ranks[0]) : (ranks) => SCORES[metric](ranks[i]);
    return meanOf([...readers.values()].map((list) => list.map(score)), scored);
  };
  return { scored, unscored, readers: readers.size, measure };
}

// meanOf returns the mean of scores, and the margin of its 95 % interval. The clicks of one reader depend on
// one another, so that readers are what varies (a ratio of sums over clusters).
function meanOf(lists, n) {
  if (n === 0) return { value: null, margin: null, n: 'no clicks' };
  const sum = (list) => list.reduce((a, b) => a + b, 0), count = lists.length;
  const value = sum(lists.map(sum)) / n;
  const squares = sum(lists.map((list) => (sum(list) - value * list.length) ** 2));
  const margin = count > 1 ? (1.96 * Math.sqrt((squares * count) / (count - 1))) / n : null;
  return { value, margin, n: `${n} clicks` };
}
