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

/** @param {[name: string, text: string][]} rows */
const list = (rows) =>
  rows.map(([name, text]) => (text === '' ? `- ${name}` : `- ${name}: ${text}`)).join('\n');

/** The name at the end of a `$ref`. */
const nameOf = ($ref) => $ref.split('/').at(-1);

function typeOf(schema) {
  if (schema.allOf) return typeOf(schema.allOf[0]);
  if (schema.$ref) return `[${nameOf(schema.$ref)}](#${nameOf(schema.$ref).toLowerCase()})`;
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`;
  if ('const' in schema) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(' or ');
  return schema.format ?? schema.type;
}

function limitsOf({ minimum, maximum, exclusiveMinimum, minItems, maxItems, pattern, ...schema }) {
  const limits = [];
  if (minimum !== undefined && maximum !== undefined) limits.push(`${minimum} to ${maximum}.`);
  else if (minimum > 1) limits.push(`${minimum} or more.`);
  if (exclusiveMinimum !== undefined) limits.push(`More than ${exclusiveMinimum}.`);
  if (minItems !== undefined && maxItems !== undefined) limits.push(`${minItems} to ${maxItems}.`);
  if (pattern !== undefined) limits.push(`\`${pattern}\``);
  if (schema.default !== undefined) limits.push(`Default: ${schema.default}.`);
  return limits.join(' ');
}

const about = (schema, description = schema.description ?? '') =>
  [description, limitsOf(schema)].filter(Boolean).join(' ');

/** A name that may be absent has `?` behind it. */
const nameOfField = (name, isRequired) => `\`${name}\`${isRequired ? '' : ' ?'}`;

const operations = Object.values(paths).flatMap(Object.values);
const keyed = operations.filter(({ security }) => security?.length !== 0);

/** Each part of an operation: a name, and what is said of it. */
const parametersOf = ({ parameters = [] }) =>
  parameters.map(({ in: place, name, required, schema, description }) => ({
    name: nameOfField(name, required),
    text: about(schema, description),
    kind: place === 'header' ? 'header' : typeOf(schema),
  }));

const answersOf = ({ responses }) =>
  Object.entries(responses).flatMap(([status, { description, content = {} }]) => {
    const [[type, { schema }] = ['no body', { schema: {} }]] = Object.entries(content);
    const codes = schema.properties?.code?.enum;
    if (codes) return codes.map((code) => errorOf(status, code, description));
    const body = type === 'application/json' ? typeOf(schema) : type;
    return [{ name: `${status}, ${body}`, text: description, isSuccess: true }];
  });

/** The description of several codes names each that it tells of: `A: … B: …`. */
function errorOf(status, code, description) {
  const [first, ...named] = description.split(/ ?\b([A-Z_]{5,}): /);
  const at = named.indexOf(code);
  const text = at === -1 ? first : named[at + 1];
  return { name: `${status} \`${code}\``, text: text.charAt(0).toUpperCase() + text.slice(1) };
}

const headersOf = ({ responses }) => {
  const seen = new Map();
  for (const { headers = {} } of Object.values(responses))
    for (const [name, { description }] of Object.entries(headers))
      if (!seen.has(name)) seen.set(name, { name: `\`${name}\``, text: description });
  return [...seen.values()];
};

const PARTS = [
  ['Parameters', parametersOf],
  ['Errors', (operation) => answersOf(operation).filter(({ isSuccess }) => !isSuccess)],
  ['Headers of the answers', headersOf],
];

/** By name what is said most often: this stands once, before the requests. */
function glossaryOf(partsOf) {
  const all = operations.flatMap(partsOf);
  const countOf = ({ name, text }) =>
    all.filter((one) => one.name === name && one.text === text).length;
  const most = new Map();
  for (const part of all)
    if (countOf(part) > countOf(most.get(part.name) ?? {})) most.set(part.name, part);
  return [...most.values()].toSorted((one, other) => byStatus(one) - byStatus(other));
}

const byStatus = ({ name }) => Number(/^\d+/.exec(name)?.[0] ?? 0);

const isOfAll = (partsOf, { name }) =>
  keyed.every((operation) => partsOf(operation).some((part) => part.name === name));

function glossaryText([title, partsOf]) {
  const rows = glossaryOf(partsOf).map((part) => [
    [`${part.name}${isOfAll(partsOf, part) ? ' \\*' : ''}`, part.kind].filter(Boolean).join(', '),
    part.text,
  ]);
  return `**${title}**\n\n${list(rows)}`;
}

/** The names of an operation's parts; what is said of one only if the glossary says another thing. */
function partsText(operation) {
  return PARTS.flatMap(([title, partsOf]) => {
    const known = new Map(glossaryOf(partsOf).map(({ name, text }) => [name, text]));
    const texts = partsOf(operation)
      .filter((part) => part.text !== known.get(part.name) || !isOfAll(partsOf, part))
      .map(({ name, text }) =>
        text === known.get(name) ? name : `${name} (${text.replace(/\.$/, '')})`,
      );
    return texts.length > 0 ? [`- ${title}: ${texts.join(', ')}`] : [];
  });
}

const successText = (operation) =>
  answersOf(operation)
    .filter(({ isSuccess }) => isSuccess)
    .map(({ name, text }) => `- ${name}: ${text}`);

const fieldRows = ({ required, properties }) =>
  Object.entries(properties).map(([field, schema]) => [
    `${nameOfField(field, required.includes(field))}, ${typeOf(schema)}`,
    about(schema),
  ]);

/** The fields that more than two answers have in the same form. */
const COMMON_FIELDS = [
  ...Map.groupBy(Object.values(components.schemas).flatMap(fieldRows), String).values(),
]
  .filter((same) => same.length > 2)
  .map(([row]) => row);

function schemaText([name, schema]) {
  const isCommon = (row) => COMMON_FIELDS.some((one) => String(one) === String(row));
  const own = fieldRows(schema).filter((row) => !isCommon(row));
  const named = fieldRows(schema)
    .filter(isCommon)
    .map(([field]) => field.split(',')[0]);
  return [`### ${name}`, list(own), ...(named.length > 0 ? [`And ${named.join(', ')}.`] : [])].join(
    '\n\n',
  );
}

/** The line about the request body, for operations that have one. */
function bodyOf({ requestBody }) {
  const schema = requestBody?.content['application/json'].schema;
  return schema ? [`- Body, as \`application/json\`: ${typeOf(schema)}`] : [];
}

const linesOf = (operation) => [
  ...bodyOf(operation),
  ...successText(operation),
  ...partsText(operation),
];

/** Of a request that has most lines of the one before it, only what differs. */
function operationText({ name, operation }, place, all) {
  const before = all[place - 1];
  const known = before === undefined ? [] : linesOf(before.operation);
  const lines = linesOf(operation);
  const own = lines.filter((line) => !known.includes(line));
  if (lines.length - own.length < 4)
    return `### ${name}\n\n${operation.description}\n\n${lines.join('\n')}`;
  const sentences = operation.description
    .split(/(?<=\.) /)
    .filter((sentence) => !before.operation.description.includes(sentence));
  return `### ${name}\n\n${sentences.join(' ')}\n\n${[...own, `- All else is as of ${before.name}.`].join('\n')}`;
}

const named = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);

function reference() {
  return [
    BEGIN,
    `Contract of ${info.version}. ${info.description} Send your key in \`${components.securitySchemes.apiKey.name}\`.`,
    '### Every request',
    'Each request below names its parameters, errors and headers; this is what they mean. Those with \\* belong to every request with a key and are not named again. `?` marks what may be absent.',
    ...PARTS.map(glossaryText),
    ...named.map(operationText),
    '### Fields of several answers',
    list(COMMON_FIELDS),
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
