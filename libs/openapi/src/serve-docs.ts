/** Shows the contract as a page for people: plain HTML from the OpenAPI document, without scripts or further files. */
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { canonicalJson } from '#libs/domain';

/** An OpenAPI document, as far as its page shows it. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, OpenApiSchema>> };
}

export interface OpenApiOperation {
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly OpenApiParameter[];
  readonly responses: Readonly<Record<string, OpenApiAnswer>>;
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: object;
}

interface OpenApiAnswer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string }>>;
}

interface OpenApiSchema {
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, object>>;
}

const HTML = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
};

/**
 * Serves the contract for people at `GET /docs` and for tools at `GET /docs/openapi.json`.
 * @param note a further sentence on the page, on how a caller authenticates
 */
export function serveDocs(app: NestFastifyApplication, openApi: OpenApi, note: string): void {
  const [html, json] = [docsPage(openApi, note), canonicalJson(openApi)];
  const fastify = app.getHttpAdapter().getInstance();
  fastify.get('/docs', (_, reply) => reply.headers(HTML).send(html));
  fastify.get('/docs/openapi.json', (_, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(json),
  );
}

type Described = Readonly<Record<string, unknown>>;

/** @param note a further sentence on the page, as plain text */
function docsPage({ info, paths, components }: OpenApi, note: string): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => section(`${method.toUpperCase()} ${path}`, one)),
  );
  const schemas = Object.entries(components.schemas).map(schemaSection);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(info.title)}</title><style>${STYLE}</style></head><body>
<h1>${text(info.title)}</h1><p>Version ${text(info.version)}. ${text(info.description)} ${text(note)}</p>
<p>As a document for tools: <a href="/docs/openapi.json">openapi.json</a>.</p>
${operations.join('')}<h2>Bodies</h2>${schemas.join('')}</body></html>
`;
}

function section(title: string, operation: OpenApiOperation): string {
  const { summary, description, parameters = [], responses } = operation;
  const asked = parameters.map(({ name, required, schema, description: of }) => [
    code(name),
    required === true ? 'required' : 'optional',
    typeOf(schema),
    text(of),
  ]);
  const answered = Object.entries(responses).map(([status, { description: of }]) => [
    text(status),
    text(of),
  ]);
  const headers = Object.entries(
    Object.assign({}, ...Object.values(responses).map((answer) => answer.headers ?? {})) as Record<
      string,
      { readonly description: string }
    >,
  ).map(([name, { description: of }]) => [code(name), text(of)]);
  return `<h2>${code(title)}</h2><p>${text(summary)}. ${text(description)}</p>${table(asked)}
<h3>Answers</h3>${table(answered)}${headers.length === 0 ? '' : `<h3>Headers of an answer</h3>${table(headers)}`}`;
}

function schemaSection([name, { required = [], properties }]: [string, OpenApiSchema]): string {
  const rows = Object.entries(properties).map(([field, schema]) => [
    code(field),
    required.includes(field) ? 'always' : 'may be absent',
    typeOf(schema),
    text((schema as Described)['description'] ?? ''),
  ]);
  return `<h3 id="${text(name)}">${text(name)}</h3>${table(rows)}`;
}

function typeOf(schema: object): string {
  const { $ref, type, minimum, maximum, pattern, items, anyOf, enum: words } = schema as Described;
  if (typeof $ref === 'string') return text($ref.slice($ref.lastIndexOf('/') + 1));
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeOf(one as object)).join(' or ');
  if (Array.isArray(words)) return text(words.join(', '));
  if (typeof items === 'object' && items !== null) return `list of ${typeOf(items)}`;
  const name = Array.isArray(type) ? type.join(' or ') : (type ?? '');
  const range = maximum === undefined ? '' : ` ${text(minimum)} to ${text(maximum)}`;
  return `${text(name)}${range}${pattern === undefined ? '' : ` ${code(pattern)}`}`;
}

function code(value: unknown): string {
  return `<code>${text(value)}</code>`;
}

function table(rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return lines.length === 0 ? '' : `<table>${lines.join('')}</table>`;
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
