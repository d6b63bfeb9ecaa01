/** The contract as a page for people: plain HTML from the OpenAPI document, without scripts and without anything to load. */
import { openApi, type Operation, OPERATIONS } from './openapi.js';
import { SCHEMAS } from './schemas.js';

type Described = Readonly<Record<string, unknown>>;

export function docsPage(): string {
  const { info } = openApi;
  const operations = Object.entries(OPERATIONS).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => section(`${method.toUpperCase()} ${path}`, one)),
  );
  const schemas = Object.entries(SCHEMAS).map(([name, { properties }]) => {
    const rows = Object.entries(properties).map(([field, described]) => [
      code(field),
      typeOf(described),
      descriptionOf(described),
    ]);
    return `<h3>${text(name)}</h3>${table(rows)}`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(info.title)}</title><style>${STYLE}</style></head><body>
<h1>${text(info.title)}</h1><p>Version ${text(info.version)}. ${text(info.description)}</p>
<p>As a document for tools: <a href="/docs/openapi.json">openapi.json</a>.</p>
${operations.join('')}<h2>Bodies</h2>${schemas.join('')}</body></html>
`;
}

function section(
  title: string,
  { summary, description, security, parameters, responses }: Operation,
): string {
  const asked = parameters.map(({ name, required, schema, description: of }) => [
    code(name),
    required ? 'required' : 'optional',
    typeOf(schema),
    text(of),
  ]);
  const answered = Object.entries(responses).map(([status, { description: of }]) => [
    text(status),
    text(of),
  ]);
  const who = security.length > 0 ? '<p>For who is signed in.</p>' : '';
  return `<h2>${code(title)}</h2><p>${text(summary)}. ${text(description)}</p>${who}${table(asked)}${table(answered)}`;
}

function typeOf(schema: object): string {
  const { $ref, type, pattern, items, anyOf, enum: words } = schema as Described;
  if (typeof $ref === 'string') return text($ref.slice($ref.lastIndexOf('/') + 1));
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeOf(one as object)).join(' or ');
  if (Array.isArray(words)) return text(words.join(', '));
  if (typeof items === 'object' && items !== null) return `list of ${typeOf(items)}`;
  const name = Array.isArray(type) ? type.join(' or ') : (type ?? '');
  return `${text(name)}${pattern === undefined ? '' : ` ${code(pattern)}`}`;
}

function descriptionOf(schema: object): string {
  return text((schema as Described)['description'] ?? '');
}

function code(value: unknown): string {
  return `<code>${text(value)}</code>`;
}

function table(rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<table>${lines.join('')}</table>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function text(value: unknown): string {
  return String(value).replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}' +
  'table{border-collapse:collapse;margin:.5rem 0}td{border:1px solid #bbb;padding:.3rem .6rem;vertical-align:top}' +
  'code{font-family:ui-monospace,monospace;font-size:.9em}';
