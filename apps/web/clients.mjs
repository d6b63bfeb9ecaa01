/**
 * Generates the types of the services' APIs for the pages, and the schemas of the operators' forms, from the OpenAPI
 * documents that the services' tests check.
 */
import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

const DOCUMENTS = ['redemption', 'console'];

for (const name of DOCUMENTS) {
  const source = new URL(`../../docs/wire/${name}-openapi.json`, import.meta.url);
  const document = JSON.parse(await readFile(source, 'utf8'));
  await write(
    `${name}.generated.ts`,
    astToString(await openapiTS(document, { defaultNonNullable: false })),
  );
  if (name === 'console') await write('console-forms.generated.ts', formsOf(document));
}

/** The schemas of all request bodies that have a field with a label (its `title`). */
function formsOf({ paths, components }) {
  const schemaOf = ({ $ref }) => components.schemas[$ref.split('/').at(-1)];
  const bodies = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(
      (one) => one.requestBody?.content['application/json'].schema ?? [],
    ),
  );
  const forms = bodies.map(({ $ref }) => {
    const { properties, required = [] } = schemaOf({ $ref });
    const inlined = Object.entries(properties).map(([field, schema]) => [
      field,
      schema.$ref === undefined ? schema : schemaOf(schema),
    ]);
    return [$ref.split('/').at(-1), { properties: Object.fromEntries(inlined), required }];
  });
  const labelled = forms.filter(([, { properties }]) =>
    JSON.stringify(properties).includes('"title":'),
  );
  return `export const forms = ${JSON.stringify(Object.fromEntries(labelled), null, 2)} as const;\n`;
}

async function write(name, text) {
  const file = new URL(`src/api/${name}`, import.meta.url);
  // Skips an unchanged file: a concurrent reader, such as the linter, could otherwise find it empty.
  if ((await readFile(file, 'utf8').catch(() => '')) !== text) await writeFile(file, text);
}
