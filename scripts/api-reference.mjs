/**
 * Writes the part of docs/partners/api-reference.md that is made from docs/wire/openapi.json, between its two marks.
 * The rest of the page is written by hand. `--check` writes nothing and fails where the page is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

const DOCUMENT = 'docs/wire/openapi.json';
const PAGE = 'docs/partners/api-reference.md';
const BEGIN =
  '<!-- Made from ../wire/openapi.json by `npm run docs:reference`: change that one. -->';
const END = '<!-- End of what is made. -->';

const { paths, components, info } = JSON.parse(readFileSync(DOCUMENT, 'utf8'));

/** @param {string} text */
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** @param {string[]} head @param {string[][]} rows */
function table(head, rows) {
  const line = (cells) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The name at the end of a `$ref`. */
const nameOf = ($ref) => $ref.split('/').at(-1);

function typeOf(schema) {
  if (schema.allOf) return typeOf(schema.allOf[0]);
  if (schema.$ref) return `[${nameOf(schema.$ref)}](#${nameOf(schema.$ref).toLowerCase()})`;
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`;
  if ('const' in schema) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(' or ');
  return schema.format ? `${schema.type}, ${schema.format}` : schema.type;
}

function limitsOf({ minimum, maximum, exclusiveMinimum, minItems, maxItems, pattern, ...schema }) {
  const limits = [];
  if (minimum !== undefined && maximum !== undefined) limits.push(`${minimum} to ${maximum}.`);
  else if (minimum !== undefined) limits.push(`${minimum} or more.`);
  if (exclusiveMinimum !== undefined) limits.push(`More than ${exclusiveMinimum}.`);
  if (minItems !== undefined && maxItems !== undefined) limits.push(`${minItems} to ${maxItems}.`);
  if (pattern !== undefined) limits.push(`\`${pattern}\``);
  if (schema.default !== undefined) limits.push(`Default: ${schema.default}.`);
  return limits.join(' ');
}

const about = (schema, description = schema.description ?? '') =>
  [description, limitsOf(schema)].filter(Boolean).join(' ');

const parameterRows = ({ parameters }) =>
  parameters.map(({ in: place, name, required, schema, description }) => [
    `\`${name}\`${place === 'header' ? ' (header)' : ''}`,
    required ? 'yes' : 'no',
    typeOf(schema),
    about(schema, description),
  ]);

const answerRows = ({ responses }) =>
  Object.entries(responses).map(([status, { description, content }]) => {
    const [[type, { schema }] = ['none', { schema: {} }]] = Object.entries(content ?? {});
    if (type !== 'application/json') return [status, type, description];
    const code = schema.properties?.code?.enum?.map((value) => `\`${value}\``).join(', ');
    return [status, code ?? typeOf(schema), description];
  });

/** The headers with the statuses that carry each; most headers are on all statuses. */
function headerRows({ responses }) {
  const seen = new Map();
  for (const [status, { headers: given }] of Object.entries(responses)) {
    for (const [name, header] of Object.entries(given)) {
      const known = seen.get(name) ?? { header, statuses: [] };
      known.statuses.push(status);
      seen.set(name, known);
    }
  }
  const all = Object.keys(responses).length;
  return [...seen].map(([name, { header, statuses }]) => [
    `\`${name}\``,
    statuses.length === all ? 'all' : statuses.join(', '),
    header.description,
  ]);
}

const TABLES = [
  ['**Parameters**', ['parameter', 'required', 'type', ''], parameterRows],
  ['**Answers**', ['status', 'body, or `code` of the error', 'when'], answerRows],
  ['**Headers of the answers**', ['header', 'on', ''], headerRows],
];

const keyed = Object.values(paths)
  .flatMap(Object.values)
  .filter(({ security }) => security?.length !== 0);

/**
 * The rows that stand once, before the requests: of each parameter, status and header that every request with a key
 * has, the row that at least half of them have.
 */
function sharedRows(rowsOf) {
  const all = keyed.flatMap(rowsOf).map(String);
  const names = (operation) => rowsOf(operation).map(([name]) => name);
  return distinctRows(rowsOf).filter(
    (row) =>
      keyed.every((operation) => names(operation).includes(row[0])) &&
      all.filter((text) => text === String(row)).length * 2 >= keyed.length,
  );
}

/** Each row of the requests with a key once. */
function distinctRows(rowsOf) {
  return [...new Map(keyed.flatMap(rowsOf).map((row) => [String(row), row])).values()];
}

const SHARED = new Map(TABLES.map(([, , rowsOf]) => [rowsOf, sharedRows(rowsOf)]));

function sharedText() {
  return [
    '### Every request',
    'What every request has that needs a key. The requests below list what they add or have in its place.',
    ...TABLES.map(([title, head, rowsOf]) => `${title}\n\n${table(head, SHARED.get(rowsOf))}`),
  ].join('\n\n');
}

/** Where each table stands, so that an equal one is named and not repeated. */
const places = new Map();

function tablesOf(operation, name) {
  return TABLES.flatMap(([title, head, rowsOf]) => {
    const shared = keyed.includes(operation) ? SHARED.get(rowsOf).map(String) : [];
    const rows = rowsOf(operation).filter((row) => !shared.includes(String(row)));
    if (rows.length === 0) return [];
    const text = `${title}\n\n${table(head, rows)}`;
    const place = places.get(text);
    if (place !== undefined) return [`${title}: those of [${place}](#${anchorOf(place)}).`];
    if (rows.length > 1) places.set(text, name);
    return [text];
  });
}

const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

function schemaText([name, { required, properties }]) {
  const rows = Object.entries(properties).map(([field, schema]) => [
    `\`${field}\``,
    typeOf(schema),
    required.includes(field) ? 'always' : 'may be absent',
    about(schema),
  ]);
  return `### ${name}\n\n${table(['field', 'type', 'there', ''], rows)}`;
}

/** The line about the request body, for operations that have one. */
function bodyOf({ requestBody }) {
  const schema = requestBody?.content['application/json'].schema;
  return schema ? [`**Body**, as \`application/json\`: ${typeOf(schema)}`] : [];
}

function operationText([path, operations]) {
  return Object.entries(operations).map(([method, operation]) =>
    [
      `### ${method.toUpperCase()} ${path}`,
      operation.description,
      ...bodyOf(operation),
      ...tablesOf(operation, `${method.toUpperCase()} ${path}`),
    ].join('\n\n'),
  );
}

function reference() {
  return [
    BEGIN,
    `Contract of ${info.version}. ${info.description} Send your key in \`${components.securitySchemes.apiKey.name}\`.`,
    sharedText(),
    ...Object.entries(paths).flatMap(operationText),
    ...Object.entries(components.schemas).map(schemaText),
    END,
  ].join('\n\n');
}

const page = readFileSync(PAGE, 'utf8');
const [before, afterBegin] = page.split(BEGIN);
const after = afterBegin?.split(END)[1];
if (after === undefined) throw new Error(`${PAGE} has lost its marks.`);
const config = await resolveConfig(PAGE);
const made = await format(before + reference() + after, { ...config, parser: 'markdown' });
if (!process.argv.includes('--check')) writeFileSync(PAGE, made);
else if (made !== page) {
  console.error(`${PAGE} is not what ${DOCUMENT} says: npm run docs:reference`);
  process.exitCode = 1;
}
