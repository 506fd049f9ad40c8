import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { browse } from './browser.js';
import { connect, nextSecond } from './helpers.js';
import { servePages } from '../tools/pages.js';
import { start } from '../tools/server.js';

const chromium = process.env.FRESHET_TEST_CHROMIUM || 'chromium';
const missing = spawnSync(chromium, ['--version']).error !== undefined && process.env.FRESHET_TEST_REQUIRE_SERVICES !== '1';

test('the example reads, scrolls and shows what is new', { skip: missing && 'there is no Chromium: FRESHET_TEST_CHROMIUM names one' }, async () => {
  const pages = await servePages();
  after(pages.stop);
  const server = await start('--demo', '--server.cors.origins', pages.url);
  after(server.stop);
  await connect(server.url, 'reader').follow('reader', 'author');
  const page = await browse(`${pages.url}/example/index.html?server=${encodeURIComponent(server.url)}&agent=reader`);
  after(page.stop);

  await page.shows('document.querySelectorAll("#items li").length === 10');
  await page.evaluate('document.getElementById("more").click()');
  await page.shows('document.querySelectorAll("#items li").length === 20');
  const ids = await page.evaluate('Array.from(document.querySelectorAll("#items li"), (line) => line.dataset.id)');
  assert.equal(new Set(ids).size, 20, 'nothing comes twice');

  await nextSecond();
  await connect(server.url, 'author').createPost({ caption: 'مطر: Rain at last' });
  await page.shows('document.getElementById("badge").textContent.endsWith(" new")');
  // The badge may have told of a post of the demo, and the author's may come a moment later.
  await page.shows('document.getElementById("items").textContent.includes("Rain at last") || document.getElementById("refresh").click()');
  const texts = 'Array.from(document.querySelectorAll("#items li *"))';
  assert.ok(await page.evaluate(`${texts}.some((text) => text.textContent.startsWith("مطر") && getComputedStyle(text).direction === "rtl")`), 'Arabic runs from right to left');
  await page.evaluate(`document.querySelector("#items li").prepend("${'x'.repeat(300)}")`);
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'a long word is broken');
  assert.equal(await page.evaluate('document.getElementById("status").textContent'), '');
  assert.deepEqual(page.complaints, []);
});
