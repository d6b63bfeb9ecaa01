/** The contract as a page for people: plain HTML from the OpenAPI document, without scripts and without anything to load. */
import { openApi } from './openapi.js';

type Described = Readonly<Record<string, unknown>>;

export function docsPage(): string {
  const { info, paths, components } = openApi;
  const operations = Object.entries(paths).map(([path, { get }]) => operation(path, get));
  const schemas = Object.entries(components.schemas).map(
    ([name, { properties, ...schema }]) =>
      `<h3 id="${text(name)}">${text(name)}</h3>${table(
        Object.entries(properties).map(([field, described]) => [
          `<code>${text(field)}</code>`,
          schema.required.some((one) => one === field) ? 'always' : 'may be absent',
          typeOf(described),
          text((described as Described)['description'] ?? ''),
        ]),
      )}`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(info.title)}</title><style>${STYLE}</style></head><body>
<h1>${text(info.title)}</h1><p>Version ${text(info.version)}. ${text(info.description)}</p>
<p>As a document for tools: <a href="/docs/openapi.json">openapi.json</a>.</p>
${operations.join('')}<h2>Bodies</h2>${schemas.join('')}</body></html>
`;
}

function operation(
  path: string,
  get: (typeof openApi.paths)['/api/staking/snapshots']['get'],
): string {
  const parameters = get.parameters.map((parameter) => [
    `<code>${text(parameter.name)}</code>`,
    parameter.required === true ? 'required' : 'optional',
    typeOf(parameter.schema),
    text(parameter.description),
  ]);
  const answers = Object.entries(get.responses).map(([status, answer]) => [
    text(status),
    text((answer as Described)['description']),
  ]);
  const headers = Object.entries(get.responses['200'].headers).map(([name, header]) => [
    `<code>${text(name)}</code>`,
    text(header.description),
  ]);
  return `<h2><code>GET ${text(path)}</code></h2><p>${text(get.summary)}.</p><p>${text(get.description)}</p>
<p>Send the API key in <code>X-API-KEY</code>.</p>${table(parameters)}<h3>Answers</h3>${table(answers)}
<h3>Headers of an answer</h3>${table(headers)}`;
}

function typeOf(schema: object): string {
  const { $ref, type, minimum, maximum, pattern, items } = schema as Described;
  if (typeof $ref === 'string') return text($ref.slice($ref.lastIndexOf('/') + 1));
  if (typeof items === 'object' && items !== null) return `list of ${typeOf(items)}`;
  const range = maximum === undefined ? '' : ` ${text(minimum)} to ${text(maximum)}`;
  return `${text(type ?? '')}${range}${pattern === undefined ? '' : ` <code>${text(pattern)}</code>`}`;
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
  'table{border-collapse:collapse}td{border:1px solid #bbb;padding:.3rem .6rem;vertical-align:top}' +
  'code{font-family:ui-monospace,monospace;font-size:.9em}';
