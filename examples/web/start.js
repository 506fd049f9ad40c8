// Serves the app, its sign-in and a demo server on another origin, until Ctrl-C.
import { createHmac, randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { createServer } from 'vite';
import { start as startFreshet } from '../../clients/typescript/tools/server.js';

const secret = randomBytes(32).toString('hex');
const encode = (/** @type {object} */ part) => Buffer.from(JSON.stringify(part)).toString('base64url');

/**
 * A token like one signed by an app's server; here for anyone, because the example has no
 * passwords.
 */
function sign(/** @type {string} */ sub, /** @type {number} */ exp) {
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub, iat: Math.floor(Date.now() / 1000), exp })}`;
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
}

/** @param {number} [port] 0 for a free one */
export async function start(port = 5173) {
  /** @type {ReturnType<typeof startFreshet> | undefined} */
  let freshet;
  const signIn = async (/** @type {import('node:http').IncomingMessage} */ request, /** @type {import('node:http').ServerResponse} */ response) => {
    const expires = Math.floor(Date.now() / 1000) + 300;
    try {
      const { name } = JSON.parse(await text(request));
      const answer = { server: (await freshet)?.url, token: sign(String(name), expires), expires };
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
    } catch {
      response.writeHead(400).end();
    }
  };
  const vite = await createServer({
    root: fileURLToPath(new URL('.', import.meta.url)),
    configFile: false,
    logLevel: 'warn',
    plugins: [react(), { name: 'sign-in', configureServer: ({ middlewares }) => { middlewares.use('/sign-in', signIn); } }],
    server: { host: '127.0.0.1', port, strictPort: port !== 0 },
  });
  await vite.listen();
  const { port: at } = /** @type {import('node:net').AddressInfo} */ (vite.httpServer?.address());
  const url = `http://127.0.0.1:${at}`;
  freshet = startFreshet('--demo', '--auth.mode', 'jwt', '--auth.jwt.secret', secret, '--server.cors.origins', url);
  const { url: server, stop } = await freshet;
  return { url, server, sign, stop: () => Promise.all([vite.close(), stop()]) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url, stop } = await start();
  console.log(`The app: ${url}`);
  process.once('SIGINT', () => void stop());
}
