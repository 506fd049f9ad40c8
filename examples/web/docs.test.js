// Runs the code of docs/apps.md in a page.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createListener } from 'node:net';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { createServer } from 'vite';
import { browse } from '../../clients/typescript/test/browser.js';
import { connect } from '../../clients/typescript/test/helpers.js';
import { start } from '../../clients/typescript/tools/server.js';
import { ids, like, missing, press, pressLike, pressText } from './page.js';

const here = fileURLToPath(new URL('.', import.meta.url));
const skip = missing && 'there is no Chromium: FRESHET_TEST_CHROMIUM names one';

/** A page that uses the SWR recipe, with a list that can be unmounted and mounted again. */
const swr = `
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { SWRConfig, mutate } from 'swr';
import { client, home } from './feed.js';
import { useFeed } from './useFeed.js';

globalThis.again = () => mutate(() => true);
function List() {
  const { entries, ready, error, refresh, loadMore, change } = useFeed('home', home);
  const like = (id) => client.likePost(id).then(({ likes }) => change(id, { likes }));
  return <>
    <button disabled={!ready} onClick={refresh}>Refresh</button>
    <ol>{entries.map(({ id, caption, title, likes }) => <li key={id} data-id={id}>
      {caption ?? title}{likes !== undefined && <button onClick={() => like(id)}>{likes} likes</button>}
    </li>)}</ol>
    {error && <p>{error.message}</p>}
    <button disabled={!ready} onClick={loadMore}>More</button>
  </>;
}
function App() {
  const [open, setOpen] = useState(true);
  return <><button id="toggle" onClick={() => setOpen(!open)}>Toggle</button>{open && <List />}</>;
}
createRoot(document.getElementById('root')).render(<SWRConfig value={{ dedupingInterval: 0, focusThrottleInterval: 0 }}><App /></SWRConfig>);
`;

/** Returns a port that is free. */
async function freePort() {
  const listener = createListener().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (listener.address());
  listener.close();
  await once(listener, 'close');
  return port;
}

/**
 * Serves the files that the document names in their first lines, and a demo server.
 * @param {Record<string, string>} [more] other files
 */
async function serve(more = {}) {
  const page = await readFile(join(here, '../../docs/apps.md'), 'utf8');
  const files = Object.fromEntries([...page.matchAll(/^```jsx?\n\/\/ (src\/\S+)\n(.*?)^```/gms)].map(([, name = '', text = '']) => [name, text]));
  const root = await mkdtemp(join(here, 'build-'));
  after(() => rm(root, { recursive: true, force: true }));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await start('--demo', '--server.cors.origins', url);
  after(server.stop);
  await connect(server.url, 'reader').follow('reader', 'author');
  for (let i = 0; i < 3; i++) await connect(server.url, 'author').createPost({ caption: `Rain ${i}` });
  const all = { 'index.html': '<!doctype html><div id="root"></div><script type="module" src="/src/main.jsx"></script>', ...files, ...more };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text.replace('http://127.0.0.1:8080', server.url).replace("agent: 'u_1'", "agent: 'reader'"));
  }
  // Vite looks for the dependencies in the files when it starts. If it found one only when the page
  // asks for it, it would reload the page, whose first page of the feed is then gone.
  const vite = await createServer({ root, configFile: false, logLevel: 'warn', cacheDir: join(root, '.vite'), plugins: [react()], server: { host: '127.0.0.1', port, strictPort: true } });
  await vite.listen();
  after(() => vite.close());
  const tab = await browse(url);
  after(tab.stop);
  return tab;
}

/** Counts requests for pages. */
const calls = 'performance.getEntriesByType("resource").filter(({ name, initiatorType }) => name.endsWith("/v1/feed") && initiatorType === "fetch").length';
const focus = 'document.dispatchEvent(new Event("visibilitychange", { bubbles: true })); dispatchEvent(new Event("focus")); dispatchEvent(new Event("online"))';

test('the list for TanStack Query is as the page says', { skip }, async () => {
  const page = await serve();
  await page.shows('document.querySelectorAll("li").length === 10');
  await page.shows(pressText('More'));
  await page.shows('document.querySelectorAll("li").length === 20');
  await page.evaluate(focus);
  await page.shows(pressLike('Rain '));
  await page.shows(`${like('Rain ')}.textContent === "1 likes"`);
  assert.equal(await page.evaluate('document.querySelectorAll("li").length'), 20);
  await page.shows(pressText('Refresh'));
  await page.shows('document.querySelectorAll("li").length === 10');
  assert.deepEqual(page.complaints, []);
});

test('the list for SWR stays as it is until the reader asks for another', { skip }, async () => {
  const page = await serve({ 'src/main.jsx': swr });
  await page.shows('document.querySelectorAll("li").length === 10');
  await page.shows(pressText('More'));
  await page.shows('document.querySelectorAll("li").length === 20');
  const [before, asked] = [await page.evaluate(ids), await page.evaluate(calls)];
  await page.evaluate(focus);
  await page.evaluate('again()');
  await page.shows(press('#toggle'));
  await page.shows('document.querySelectorAll("li").length === 0');
  await page.shows(press('#toggle'));
  await page.shows('document.querySelectorAll("li").length === 20');
  await page.shows(pressLike('Rain '));
  await page.shows(`${like('Rain ')}.textContent === "1 likes"`);
  await page.evaluate('again()');
  assert.deepEqual(await page.evaluate(ids), before);
  assert.equal(await page.evaluate(calls), asked, 'no page was read again');
  await page.shows(`${pressText('More')} && ${pressLike('Rain ')}`);
  await page.shows('document.querySelectorAll("li").length === 30');
  await page.shows(pressText('Refresh'));
  await page.shows('document.querySelectorAll("li").length === 10');
  assert.ok((await page.evaluate(ids)).every((/** @type {string} */ id) => !before.includes(id)));
  assert.deepEqual(page.complaints, []);
});

/** A page that publishes pictures which the server would refuse, and tries a file that is no picture. */
const photo = `
import { client } from './feed.js';
import { smaller } from './smaller.js';

const canvas = new OffscreenCanvas(3000, 2000);
const noise = new ImageData(3000, 2000);
for (let i = 0; i < noise.data.length; i += 65_536) crypto.getRandomValues(noise.data.subarray(i, i + 65_536));
canvas.getContext('2d').putImageData(noise, 0, 0);
const file = await canvas.convertToBlob({ type: 'image/png' });

const plain = async (width, height, type) => {
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d').fillRect(0, 0, width, height);
  return canvas.convertToBlob({ type });
};
const bytes = (n, length) => Array.from({ length }, (_, i) => n / 256 ** i & 255);
const riff = (name, data) => [...new TextEncoder().encode(name), ...bytes(data.length, 4), ...data, ...Array(data.length % 2).fill(0)];
const small = await plain(8, 8, 'image/webp');
const webp = [...new Uint8Array(await small.arrayBuffer())];
const still = webp.slice(String.fromCharCode(...webp).search(/VP8[ L]/));
const frame = [...bytes(0, 6), ...bytes(7, 3), ...bytes(7, 3), ...bytes(100, 3), 0, ...still];
const animated = riff('RIFF', [...new TextEncoder().encode('WEBP'), ...riff('VP8X', [2, 0, 0, 0, ...bytes(7, 3), ...bytes(7, 3)]),
  ...riff('ANIM', bytes(0, 6)), ...riff('ANMF', frame), ...riff('ANMF', frame)]);

const publish = async (data) => {
  try {
    const { images } = await client.createPost({ caption: 'A picture', images: [{ data: await smaller(data), alt: 'Noise' }] });
    return images[0].width;
  } catch (error) {
    return error.message;
  }
};
const heic = new File(['ftypheic'], 'IMG_1.HEIC', { type: 'image/heic' });
globalThis.done = {
  size: file.size,
  widths: [await publish(file), await publish(await plain(10_001, 5000, 'image/png')), await publish(new Blob([new Uint8Array(animated)], { type: 'image/webp' }))],
  same: await smaller(small) === small,
  refused: await smaller(heic).catch((error) => error.message),
};
`;

test('a picture that the server would refuse is made smaller', { skip }, async () => {
  const page = await serve({ 'src/main.jsx': photo });
  await page.shows('Boolean(globalThis.done)');
  const { size, widths, same, refused } = await page.evaluate('done');
  assert.ok(size > 5 * 2 ** 20);
  assert.deepEqual([widths, same], [[2560, 2560, 8], true]);
  assert.match(refused, /cannot read IMG_1.HEIC/);
});
