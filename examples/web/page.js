// What the tests ask of a page.
import { spawnSync } from 'node:child_process';

/** Whether there is no Chromium, and there need not be one. */
export const missing = spawnSync(process.env.FRESHET_TEST_CHROMIUM || 'chromium', ['--version']).error !== undefined && process.env.FRESHET_TEST_REQUIRE_SERVICES !== '1';

export const ids = 'Array.from(document.querySelectorAll("li"), (line) => line.dataset.id)';

/** What takes effect once: a button that is disabled does not hear a click. */
const clicks = (/** @type {string} */ button) => `(() => { const button = ${button}; if (!button || button.disabled) return false; button.click(); return true; })()`;

/** Clicks a button as soon as it is there and enabled. */
export const press = (/** @type {string} */ selector) => clicks(`document.querySelector(${JSON.stringify(selector)})`);

/** Clicks the button with a text. */
export const pressText = (/** @type {string} */ text) => clicks(`Array.from(document.querySelectorAll("button")).find(({ textContent }) => textContent === ${JSON.stringify(text)})`);

/** The button of the likes of the post with a caption. Other posts of the demo are liked by others too. */
export const like = (/** @type {string} */ caption) => `Array.from(document.querySelectorAll("li")).find(({ textContent }) => textContent.includes(${JSON.stringify(caption)}))?.querySelector("button")`;
export const pressLike = (/** @type {string} */ caption) => clicks(like(caption));
