import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Client } from '@freshet/client';
import { browse } from '../../clients/typescript/test/browser.js';
import { until } from '../../clients/typescript/test/helpers.js';
import { adminToken } from '../../clients/typescript/tools/server.js';
import { ids, like, missing, press, pressLike } from './page.js';
import { start } from './start.js';

const lines = 'document.querySelectorAll("li").length';
const end = 'scrollTo(0, document.body.scrollHeight)';
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=='; // a PNG
const skip = missing && 'there is no Chromium: FRESHET_TEST_CHROMIUM names one';

/** Signs in as a reader. @param {Awaited<ReturnType<typeof browse>>} page @param {string} name */
async function signIn(page, name) {
  await page.shows('document.querySelector("#sign-in") !== null');
  await page.evaluate(`document.querySelector("[name=name]").value = ${JSON.stringify(name)}`);
  await page.shows(press('#sign-in'));
}

test('a reader signs in from another origin, scrolls, likes, posts and sees what is new', { skip }, async () => {
  const app = await start(0);
  after(app.stop);
  const as = (/** @type {string} */ name) => new Client({ server: app.server, token: () => app.sign(name, Math.floor(Date.now() / 1000) + 60) });
  await as('reader').follow('reader', 'author');
  for (let i = 0; i < 3; i++) await as('author').createPost({ caption: `Rain ${i}` });
  const page = await browse(app.url);
  after(page.stop);

  await signIn(page, 'reader');
  await page.shows(`${lines} >= 10`);
  await page.shows(`${end} || ${lines} >= 30`);
  assert.deepEqual(await page.evaluate('["textarea", "li p"].map((one) => document.querySelector(one)?.dir)'), ['auto', 'auto'], 'Arabic runs from right to left');
  const before = await page.evaluate(ids);
  assert.equal(new Set(before).size, before.length, 'nothing comes twice');

  const [rain, liked] = [like('Rain '), (/** @type {boolean} */ pressed) => `${like('Rain ')}.getAttribute("aria-pressed") === "${pressed}"`];
  await page.shows(pressLike('Rain '));
  await page.shows(liked(true));
  const id = await page.evaluate(`${rain}.closest("li").dataset.id`);
  await page.shows(`${rain}.textContent === "1 likes"`);
  await page.shows(pressLike('Rain '));
  await page.shows(liked(false));
  await page.shows(pressLike('Rain '));
  await until(async () => (await as('reader').post(id)).in_feed.has_liked);
  await page.shows(liked(true));

  await page.evaluate('document.querySelector("textarea").value = "Sun at last #weather"');
  await page.shows(press('#publish'));
  await page.shows('document.querySelector("li").textContent.includes("Sun at last")');

  // The page of a tag has what home has shown, and home is as it was.
  const home = await page.evaluate(ids);
  await page.shows(press('li:nth-child(n+2) .tag')); // the first is the reader's own, which no feed shows them
  await page.shows('document.querySelector("h2")?.textContent.startsWith("#")');
  await page.shows(`${lines} >= 1 && Array.from(document.querySelectorAll("li")).every((one) => one.textContent.includes(document.querySelector("h2").textContent.split(" ")[0]))`);
  await page.shows(press('#home'));
  await page.shows('document.querySelector("h2") === null');
  await page.shows(`JSON.stringify(${ids}.slice(0, ${home.length})) === ${JSON.stringify(JSON.stringify(home))}`);

  // Only Refresh changes the list.
  await page.evaluate('document.dispatchEvent(new Event("visibilitychange", { bubbles: true })); dispatchEvent(new Event("online"))');
  const [own, ...rest] = await page.evaluate(ids);
  assert.deepEqual(rest.slice(0, before.length), before, own);

  await as('author').createPost({ caption: 'Hail again' });
  await page.shows('document.querySelector("#badge")?.textContent.endsWith(" new")');
  // The badge may have reported a post of the demo, and the author's may arrive a moment later.
  await page.shows(`document.querySelector("ol").textContent.includes("Hail again") || ${press('#refresh')} && false`);
  assert.equal(await page.evaluate('Array.from(document.querySelectorAll("[role=alert]"), (said) => said.textContent).join("")'), '');
  assert.deepEqual(page.complaints, []);
});

test('an author is notified and sees what moderators have done, a reader reports a post', { skip }, async () => {
  const app = await start(0);
  after(app.stop);
  const as = (/** @type {string} */ name) => new Client({ server: app.server, token: () => app.sign(name, Math.floor(Date.now() / 1000) + 60) });
  const moderator = new Client({ server: app.server, headers: { 'X-Admin-Token': adminToken } });
  await as('reader').follow('reader', 'author');
  const { id } = await as('author').createPost({ caption: 'Rain at last' });
  const other = await as('author').createPost({ caption: 'Buy now' });
  const page = await browse(app.url);
  after(page.stop);

  await signIn(page, 'author');
  const unread = '(document.querySelector("#unread")?.textContent ?? "")', told = '(document.querySelector("#notifications")?.textContent ?? "")';
  await page.shows(`${unread} === "1"`);
  await page.shows(press('#bell'));
  await page.shows(`${told}.includes("reader followed you") && ${unread} === ""`);
  await until(async () => (await as('author').notifications()).unread === 0);
  await page.shows(press('#bell'));
  await page.shows('document.querySelector("#notifications") === null');
  await as('reader').likePost(id);
  await page.shows(`${unread} === "1"`); // by the stream
  await page.shows(press('#bell'));
  await page.shows(`${told}.includes("reader liked your post: Rain at last") && ${unread} === ""`);
  await as('reader').createPost({ caption: 'Here too', reply_to: id });
  await page.shows(`${told}.includes("reader replied to your post: Here too") && ${unread} === ""`);
  await until(async () => (await as('author').notifications()).unread === 0); // it was on the screen
  await page.shows(press('#bell'));

  const post = { kind: /** @type {const} */ ('post'), id };
  const removed = 'Array.from(document.querySelectorAll("#posts li"), (line) => line.textContent).join()';
  await page.shows(press('#own'));
  await page.shows(`${removed}.includes("Rain at last") && document.querySelector(".removed") === null`);

  await page.evaluate(`(() => {
    const file = new File([Uint8Array.from(atob(${JSON.stringify(pixel)}), (c) => c.charCodeAt(0))], 'me.png', { type: 'image/png' });
    const files = new DataTransfer(), input = document.querySelector('#picture');
    files.items.add(file);
    input.files = files.files;
    input.dispatchEvent(new Event('change', { bubbles: true }));
  })()`);
  await page.shows('document.querySelector("#avatar")?.naturalWidth === 1');
  await moderator.moderate({ object: post, action: 'hold', reason: 'being checked' });
  await page.shows(press('#home'));
  await page.shows(press('#own'));
  await page.shows(`${removed}.includes("Rain at lastModerators hide this until they have decided: being checked")`);
  await moderator.moderate({ object: post, action: 'remove', reason: 'off topic' });
  await page.shows(press('#home'));
  await page.shows(press('#own'));
  await page.shows(`${removed}.includes("Moderators have removed this: off topic")`);
  const author = { kind: /** @type {const} */ ('author'), id: 'author' };
  await moderator.moderate({ object: author, action: 'suspend', reason: 'enough', until: Math.floor(Date.now() / 1000) + 3600 });
  await page.shows(press('#home'));
  await page.shows(press('#own'));
  await page.shows('(document.querySelector("#suspended")?.textContent ?? "").endsWith(": enough")');
  await moderator.moderate({ object: author, action: 'lift' });
  assert.deepEqual(page.complaints, []);

  await page.shows(press('#sign-out'));
  await signIn(page, 'reader');
  const line = 'Array.from(document.querySelectorAll("li")).find(({ textContent }) => textContent.includes("Buy now"))';
  await page.shows(`Boolean(${line})`);
  assert.equal(await page.evaluate('document.body.textContent.includes("Rain at last")'), false, 'only its author sees it');
  await page.shows(`(() => { const button = ${line}?.querySelector("[data-reason=spam]"); if (!button || button.disabled) return false; button.click(); return true; })()`);
  await page.shows(`${line}?.querySelector(".reported") !== null`);
  const [reported] = (await moderator.reports()).objects;
  assert.deepEqual([reported?.id, reported?.reasons, reported?.reports[0]?.agent], [other.id, { spam: 1 }, 'reader']);
  assert.equal(await page.evaluate('Array.from(document.querySelectorAll("[role=alert]"), (said) => said.textContent).join("")'), '');
  assert.deepEqual(page.complaints, []);
});
