// Expressions that the tests evaluate in a page.
import { spawnSync } from 'node:child_process';

/** Whether Chromium is missing and not required. */
export const missing = spawnSync(process.env.FRESHET_TEST_CHROMIUM || 'chromium', ['--version']).error !== undefined && process.env.FRESHET_TEST_REQUIRE_SERVICES !== '1';

export const ids = 'Array.from(document.querySelectorAll("li"), (line) => line.dataset.id)';

/** Clicks only an enabled button, because a disabled one ignores clicks. */
const clicks = (/** @type {string} */ button) => `(() => { const button = ${button}; if (!button || button.disabled) return false; button.click(); return true; })()`;

/** Clicks a button as soon as it exists and is enabled. */
export const press = (/** @type {string} */ selector) => clicks(`document.querySelector(${JSON.stringify(selector)})`);

/** Clicks the button with this text. */
export const pressText = (/** @type {string} */ text) => clicks(`Array.from(document.querySelectorAll("button")).find(({ textContent }) => textContent === ${JSON.stringify(text)})`);

/** The like button of the post with a caption. Other posts of the demo are also liked by others. */
export const like = (/** @type {string} */ caption) => `Array.from(document.querySelectorAll("li")).find(({ textContent }) => textContent.includes(${JSON.stringify(caption)}))?.querySelector("button")`;
export const pressLike = (/** @type {string} */ caption) => clicks(like(caption));
