/**
 * Generates the types of the services' APIs for the pages, from the OpenAPI documents that the services' tests check.
 */
import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

const DOCUMENTS = ['redemption', 'console'];

for (const name of DOCUMENTS) {
  const source = new URL(`../../docs/wire/${name}-openapi.json`, import.meta.url);
  const types = astToString(await openapiTS(JSON.parse(await readFile(source, 'utf8'))));
  const file = new URL(`src/api/${name}.generated.ts`, import.meta.url);
  // Skips an unchanged file: a concurrent reader, such as the linter, could otherwise find it empty.
  if ((await readFile(file, 'utf8').catch(() => '')) !== types) await writeFile(file, types);
}
