import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import ts from 'typescript';
import { serve, store } from './helpers.js';

const { server } = await serve();
const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');

test('what the README shows runs', async (t) => {
  await store(server.url, 'readme', 30);
  const [, code = ''] = /```js\n(.*?)```/s.exec(readme) ?? [];
  const [, typed = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  const log = t.mock.method(console, 'log', () => {});
  const shown = `${code}\n${ts.transpile(typed, { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 })}\nexport { page, next, circles };`
    .replaceAll('http://127.0.0.1:8080', server.url)
    .replaceAll("'@freshet/client'", `'${import.meta.resolve('@freshet/client')}'`);
  const { page, next, circles } = await import(`data:text/javascript,${encodeURIComponent(shown)}`);
  assert.equal(page.items.length, 10);
  assert.equal(next.items.length, 10);
  assert.deepEqual(circles, []);
  const told = log.mock.calls.map(({ arguments: [first] }) => String(first));
  assert.ok(told.some((line) => line.startsWith('readme ')), 'the title of an item');
  assert.ok(told.some((line) => line.startsWith('the server answered 404 (40401)')));
});

test('the package has what is compiled of the sources, and a README of a screen', async () => {
  const folder = new URL('..', import.meta.url);
  const [{ files }] = JSON.parse(execFileSync('npm', ['pack', '--ignore-scripts', '--dry-run', '--json'], { cwd: folder, encoding: 'utf8' }));
  const sources = await readdir(new URL('src', folder));
  const compiled = sources.flatMap((name) => ['.js', '.d.ts'].map((end) => `dist/${name.replace('.ts', end)}`));
  const packed = files.map((/** @type {{path: string}} */ { path }) => path);
  assert.deepEqual(packed.toSorted(), ['LICENSE', 'README.md', 'package.json', ...compiled].toSorted());
  assert.ok(readme.split('\n').length <= 61);
});
