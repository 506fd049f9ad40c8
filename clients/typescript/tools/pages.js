// Serves the example and the compiled client as a web server does, on a free port.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';

const folder = new URL('..', import.meta.url);
const types = /** @type {Record<string, string>} */ ({ html: 'text/html', js: 'text/javascript' });

/** @returns {Promise<{url: string, stop: () => void}>} */
export async function servePages() {
  const server = http.createServer(async ({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://127.0.0.1');
    const [, type = ''] = /^\/(?:example|dist)\/[a-z]+\.(html|js)$/.exec(pathname) ?? [];
    try {
      if (!type) throw new Error('not one of the files that are served');
      const file = await readFile(new URL(`.${pathname}`, folder));
      response.writeHead(200, { 'Content-Type': `${types[type]}; charset=utf-8` }).end(file);
    } catch (error) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
