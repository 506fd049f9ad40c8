// A real server for the tests, the generator and the example.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory of the repository. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The server's program. */
export const binary = process.env.FRESHET_TEST_BINARY ?? fileURLToPath(new URL('../build/freshet', import.meta.url));

/** The admin token of servers that {@link start} has started. */
export const adminToken = 'admin-token-of-tests';

/**
 * Starts a server on a free port, with empty temporary data.
 * @param {...string} flags of `freshet serve`, such as --demo
 * @returns {Promise<{url: string, stop: () => Promise<void>}>}
 */
export async function start(...flags) {
  const data = await mkdtemp(join(tmpdir(), 'freshet-client-'));
  const server = spawn(binary, [
    'serve', '--data_dir', data, '--server.addr', '127.0.0.1:0', '--auth.admin_token', adminToken,
    '--server.request_timeout', '30s', // on a busy machine a page would lack a source that is late
    ...flags,
  ], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => { server.once('close', resolve); });
  // Nothing is left running by a test that is ended from outside.
  const kill = () => server.kill();
  const end = () => process.exit(1);
  process.once('exit', kill).once('SIGTERM', end);
  const stop = async () => {
    process.off('exit', kill).off('SIGTERM', end);
    kill();
    await ended;
    await rm(data, { recursive: true, force: true });
  };
  try {
    return { url: `http://${await address(server)}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Reads from the server's log where it listens.
 * @param {import('node:child_process').ChildProcess} server
 * @returns {Promise<string>}
 */
function address(server) {
  return new Promise((resolve, reject) => {
    let log = '';
    server.once('error', (cause) => reject(new Error(`cannot start ${binary}; "npm run server" builds it`, { cause })));
    server.once('close', () => reject(new Error(`the server ended before it listened: ${log}`)));
    server.stderr?.setEncoding('utf8').on('data', (text) => {
      log += text;
      const found = /msg=serving addr=(\S+)/.exec(log);
      if (found?.[1]) resolve(found[1]);
    });
  });
}
