// Writes src/openapi.ts, the types of the server's OpenAPI document. With --check it
// writes nothing and fails where the file is not what it would write.
import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';
import { start } from './server.js';

const file = new URL('../src/openapi.ts', import.meta.url);
const head = '// Generated from /openapi.json by "npm run generate". Do not edit.\n\n';

const server = await start();
try {
  const description = await (await fetch(new URL('/openapi.json', server.url))).json();
  // The default is true. It is set here, not in the document, because Kotlin code generated
  // from an explicit value does not compile.
  description.components.schemas.Item.additionalProperties = true;
  const types = await openapiTS(description, { defaultNonNullable: false });
  const text = head + astToString(types);
  if (!process.argv.includes('--check')) {
    await writeFile(file, text);
  } else if (text !== await readFile(file, 'utf8')) {
    console.error('src/openapi.ts is not what the server describes: run "npm run generate" in clients/typescript and commit the result');
    process.exitCode = 1;
  }
} finally {
  await server.stop();
}
