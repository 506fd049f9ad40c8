// Serves the example beside a demo server, until Ctrl-C.
import { servePages } from './pages.js';
import { start } from './server.js';

const pages = await servePages();
const demo = await start('--demo', '--server.cors.origins', pages.url);
console.log(`${pages.url}/example/index.html?server=${encodeURIComponent(demo.url)}&agent=u_1`);
process.once('SIGINT', async () => {
  pages.stop();
  await demo.stop();
});
