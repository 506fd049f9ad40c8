// Builds the server that tests and the generator run, unless FRESHET_TEST_BINARY names
// one. Go builds nothing again that is up to date.
import { execFileSync } from 'node:child_process';
import { binary, root } from './server.js';

if (!process.env.FRESHET_TEST_BINARY) {
  execFileSync('go', ['build', '-o', binary, './cmd/freshet'], { cwd: root, stdio: 'inherit' });
}
