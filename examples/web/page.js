// What the tests ask of a page.
import { spawnSync } from 'node:child_process';

/** Whether there is no Chromium, and there need not be one. */
export const missing = spawnSync(process.env.FRESHET_TEST_CHROMIUM || 'chromium', ['--version']).error !== undefined && process.env.FRESHET_TEST_REQUIRE_SERVICES !== '1';

export const ids = 'Array.from(document.querySelectorAll("li"), (line) => line.dataset.id)';
export const click = (/** @type {string} */ what) => `document.querySelector(${JSON.stringify(what)}).click()`;
