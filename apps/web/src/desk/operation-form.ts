/** Forms of operations, by the schemas that the console's OpenAPI document has of their requests. */
import { plainDecimal } from '../format/amount.js';

export interface FieldSchema {
  readonly type?: string;
  readonly default?: number;
  /** Label of the field. A field without one is not in the form. */
  readonly title?: string;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Of a `date-time`, the form has the value of a `datetime-local` input. */
  readonly format?: string;
  readonly writeOnly?: boolean;
  readonly items?: {
    readonly enum?: readonly string[];
    /** What the values mean. */
    readonly 'x-enumDescriptions'?: Readonly<Record<string, string>>;
    readonly $ref?: string;
  };
  readonly enum?: readonly string[];
  /** Of a group of fields. */
  readonly properties?: Readonly<Record<string, FieldSchema>>;
}

export interface FormSchema {
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
}

export type FormValue = string | boolean | readonly string[];
export type FormValues = Readonly<Record<string, FormValue>>;

export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly schema: FieldSchema;
  readonly isRequired: boolean;
  /** The group that the field is sent in. */
  readonly group: string | undefined;
}

/** The fields with a label, those of groups too. */
export function fieldsOf({ properties, required = [] }: Partial<FormSchema>): FormField[] {
  return Object.entries(properties ?? {}).flatMap(([name, schema]): FormField[] => {
    if (schema.properties !== undefined) {
      return fieldsOf(schema).map((field) => ({ ...field, group: name }));
    }
    const { title: label } = schema;
    const isRequired = required.includes(name);
    return label === undefined ? [] : [{ name, label, schema, isRequired, group: undefined }];
  });
}

/** The values of a form that shows what is stored. */
export function initialValues(
  fields: readonly FormField[],
  stored: Readonly<Record<string, unknown>> = {},
): FormValues {
  return Object.fromEntries(
    fields.map((field) => [field.name, initialValue(field, stored[field.name])]),
  );
}

function initialValue(
  { schema: { type, default: value } }: FormField,
  stored: unknown = value,
): FormValue {
  if (type === 'boolean') return stored === true;
  if (type === 'array') return Array.isArray(stored) ? (stored as string[]) : [];
  return typeof stored === 'string' || typeof stored === 'number' ? String(stored) : '';
}

type Body = Record<string, unknown>;

/**
 * The values that differ from those before, as the request has them. An emptied limit is removed; any other emptied
 * field stays as it was.
 */
export function changesOf(
  fields: readonly FormField[],
  before: FormValues,
  after: FormValues,
): Body {
  const body: Body = {};
  for (const { name, group, schema: field } of fields) {
    const value = after[name];
    const text = typeof value === 'string' ? textOf(value, field) : value;
    if (text === undefined || value === (before[name] ?? '')) continue;
    if (text === '' && !takesNone(field)) continue;
    const given = text === '' ? NONE : text;
    const sent = field.type === 'integer' ? Number(given) : given;
    if (group === undefined) body[name] = sent;
    else body[group] = { ...(body[group] as Body | undefined), [name]: sent };
  }
  return body;
}

/** Whether the values are numbers in a text, as amounts are. */
export function isAmount(schema: FieldSchema): boolean {
  return fits(schema, '1') && !fits(schema, 'a');
}

/** The value that removes a limit. */
const NONE = 'none';

/** Whether the field is a limit, which can be removed. */
function takesNone(schema: FieldSchema): boolean {
  return isAmount(schema) && fits(schema, NONE);
}

function fits({ pattern = '' }: FieldSchema, text: string): boolean {
  return new RegExp(pattern, 'u').test(text);
}

function textOf(value: string, schema: FieldSchema): string {
  // Such an input has no time zone: it means that of the reader.
  if (schema.format === 'date-time') return value === '' ? '' : new Date(value).toISOString();
  return isAmount(schema) ? plainDecimal(value) : value.trim();
}

/** What is wrong with a value while it is typed; null if the server may accept it. */
export function faultOf({ schema, isRequired }: FormField, value: FormValue): string | null {
  if (typeof value !== 'string' || (value === '' && !isRequired)) return null;
  const { type, minimum = 0, maximum = Infinity, maxLength = Infinity } = schema;
  if (type === 'integer') {
    const number = /^\d+$/.test(value.trim()) ? Number(value) : Number.NaN;
    return number >= minimum && number <= maximum ? null : `A whole number, at least ${minimum}.`;
  }
  // Counts code points as the server does; an emoji may be two UTF-16 units.
  const count = Array.from(value.trim()).length;
  return count > maxLength ? `At most ${maxLength} characters; these are ${count}.` : null;
}

/** Whether the required fields have values, and no field a value that the server refuses for certain. */
export function isReady(fields: readonly FormField[], values: FormValues): boolean {
  return fields.every((field) => {
    const value = values[field.name] ?? '';
    const given = typeof value === 'string' ? value.trim() : value;
    const isMissing = field.isRequired && typeof given !== 'boolean' && given.length === 0;
    return !isMissing && faultOf(field, value) === null;
  });
}
