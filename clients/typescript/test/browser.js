// A Chromium without a window, told over a pipe what to do.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './helpers.js';

/** How long a page is waited for, ms: a test that waits for good does not say what for. */
const patience = 60_000;

/**
 * Opens a page.
 * @param {string} url
 */
export async function browse(url) {
  const data = await mkdtemp(join(tmpdir(), 'freshet-chromium-'));
  const browser = spawn(process.env.FRESHET_TEST_CHROMIUM || 'chromium', [
    '--headless', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', `--user-data-dir=${data}`, 'about:blank',
  ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true });
  // The whole group: its other processes hold the pipes and write into its directory.
  const kill = () => { if (browser.pid) try { process.kill(-browser.pid, 'SIGKILL'); } catch { /* it has ended */ } };
  process.once('exit', kill);
  const ended = new Promise((resolve, reject) => {
    browser.once('error', reject);
    browser.once('exit', resolve);
  });
  const [, , , input, output] = /** @type {[any, any, any, import('node:stream').Writable, import('node:stream').Readable]} */ (browser.stdio);

  let last = 0;
  /** @type {Map<number, {resolve: (result: any) => void, reject: (error: Error) => void}>} */
  const asked = new Map();
  /** @type {string[]} */
  const complaints = [];
  let rest = '';
  output.setEncoding('utf8').on('data', (text) => {
    const messages = (rest + text).split('\0');
    rest = messages.pop() ?? '';
    for (const message of messages.map((m) => JSON.parse(m))) {
      if (message.method === 'Runtime.exceptionThrown') complaints.push(JSON.stringify(message.params.exceptionDetails));
      const one = asked.get(message.id);
      asked.delete(message.id);
      if (message.error) one?.reject(new Error(message.error.message));
      else one?.resolve(message.result);
    }
  });

  /** @type {string | undefined} */
  let sessionId;
  /**
   * @param {string} method of the DevTools protocol
   * @param {object} [params]
   * @returns {Promise<any>}
   */
  const call = (method, params) => Promise.race([
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`Chromium does not answer to ${method} ${JSON.stringify(params)}`)), patience).unref();
      const settled = (/** @type {(value: any) => void} */ how) => (/** @type {any} */ value) => { clearTimeout(timer); how(value); };
      asked.set(++last, { resolve: settled(resolve), reject: settled(reject) });
      input.write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
    }),
    ended.then(() => { throw new Error('Chromium has ended'); }),
  ]);

  const { targetInfos } = await call('Target.getTargets');
  const { targetId } = targetInfos.find((/** @type {any} */ target) => target.type === 'page');
  ({ sessionId } = await call('Target.attachToTarget', { targetId, flatten: true }));
  await call('Runtime.enable');
  await call('Page.navigate', { url });

  /** @param {string} expression */
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await call('Runtime.evaluate', { expression, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return result.value;
  };
  return {
    /** Exceptions that nobody has caught. */
    complaints,
    evaluate,
    /** @param {string} expression what the page comes to */
    shows: async (expression) => {
      const end = Date.now() + patience;
      await until(async () => {
        const value = await evaluate(expression);
        if (!value && Date.now() > end) throw new Error(`The page does not come to ${expression}. It shows: ${await evaluate('document.body.innerText')}`);
        return value;
      });
    },
    async stop() {
      process.off('exit', kill);
      kill();
      await ended;
      input.destroy();
      output.destroy();
      await rm(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}
