// What must not compile: "npm run check" reports an expected error that does not occur.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@freshet/client';

/** @typedef {import('@freshet/client').Data<'/v1/circles', 'get'>} Circles */
// @ts-expect-error nobody deletes all circles
/** @typedef {import('@freshet/client').Data<'/v1/circles', 'delete'>} NoRoute */

test('a call of a method and a path that do not belong together does not compile', async () => {
  /** @type {string[]} */
  const calls = [];
  const client = new Client({
    server: 'http://freshet.test', tries: 1,
    fetch: async (url, init) => {
      calls.push(`${init?.method} ${String(url).slice('http://freshet.test'.length)}`);
      return new Response('{"code":0,"msg":"success","data":{}}');
    },
  });
  const id = 'post:1';
  await client.do({ method: 'GET', path: '/v1/circles?of=owned' });
  await client.do({ method: 'PUT', path: `/v1/posts/${id}/like` });
  await client.do({ method: 'DELETE', path: `/v1/posts/${id}?reason=${encodeURIComponent('off topic')}` });
  // @ts-expect-error posts are not listed
  await client.do({ method: 'GET', path: '/v1/posts' });
  // @ts-expect-error a like is put
  await client.do({ method: 'POST', path: `/v1/posts/${id}/like` });
  // @ts-expect-error misspelt
  await client.do({ method: 'GET', path: '/v1/circle' });
  // @ts-expect-error a timeline is only read
  await client.do({ method: 'DELETE', path: '/v1/timeline?limit=3' });
  assert.equal(calls.length, 7);
});
