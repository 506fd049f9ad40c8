import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changes } from '../dist/changes.js';
import { Transport } from '../dist/transport.js';

/** @param {string[]} lines */
const answer = (lines) => new Response(lines.join('\n'), { headers: { 'Content-Type': 'application/x-ndjson' } });

const refusal = (/** @type {number} */ status, /** @type {number} */ code) =>
  new Response(JSON.stringify({ code, msg: 'no' }), { status, headers: { 'Content-Type': 'application/json' } });

test('changes go on where they were cut off, and end when the server refuses the cursor', async () => {
  const first = { cursor: 'c1.x.2', type: 'follow.created', data: { at: 1, agent_id: 'a', author_id: 'b' } };
  const second = { cursor: 'c1.x.3', type: 'post.deleted', data: { at: 2, id: 'post:1' } };
  const answers = [
    answer(['{"cursor":"c1.x.1"}', '']),
    answer([JSON.stringify(first), '{"cursor":"c1.x.3","ty']),
    refusal(503, 50301),
    answer(['']),
    answer([JSON.stringify(second), '{"cursor":"c1.x.3"}', '']),
    refusal(410, 41001),
  ];
  /** @type {(string | null)[]} */
  const asked = [];
  /** @type {string[]} */
  const retries = [];
  const transport = new Transport({
    server: 'http://server', pause: 1, fetch: async (url) => {
      const query = new URL(String(url)).searchParams;
      assert.equal(query.get('types'), 'follow.created,post.deleted');
      asked.push(query.get('after'));
      return answers.shift() ?? refusal(500, 50001);
    },
  });
  /** @type {import('@freshet/client').Change[]} */
  const got = [];
  const all = changes(transport, { types: ['follow.created', 'post.deleted'], onRetry: (cause) => retries.push(cause.kind) });
  await assert.rejects(async () => {
    for await (const change of all) got.push(change);
  }, { status: 410, code: 41001 });
  assert.deepEqual(got, [{ cursor: 'c1.x.1' }, first, second]);
  assert.deepEqual(asked, [null, 'c1.x.1', 'c1.x.2', 'c1.x.2', 'c1.x.2', 'c1.x.3']);
  assert.deepEqual(retries, ['unavailable', 'unreachable']);
});

test('changes end with their signal', async () => {
  const transport = new Transport({ server: 'http://server', fetch: (_url, init) => new Promise((_, reject) => {
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
  }) });
  const end = new AbortController();
  const next = changes(transport, { after: 'oldest', signal: end.signal }).next();
  end.abort(new Error('enough'));
  await assert.rejects(next, /enough/);
});
