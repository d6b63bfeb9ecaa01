/**
 * Fields of operations. One decorator says what the check, the option of the command, the contract of the console and
 * the form of a page need to know. The values are those of JSON; an operation parses them.
 */
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  validateSync,
} from 'class-validator';
import { isMoment } from '../text/is-moment.js';

interface CommonSpec {
  /** What the field means, as the help of an option begins: in lower case, without a full stop. */
  readonly help: string;
  /** Its label in a form, and its name in refusals that a page shows. Without one no form has the field. */
  readonly label?: string;
  /** Flags of its option, such as `--rate <requests>`. Without them the command does not have the field. */
  readonly option?: string;
  /** Its place among the arguments of the command, such as `<usd>`, in the place of an option. */
  readonly argument?: string;
  readonly required?: true;
  /** A part of the route's path instead of the body; then the operation itself refuses a wrong value. */
  readonly inPath?: true;
  /** A stored request of two-person approval has it, although the command does not. */
  readonly isStored?: true;
  /** The value as an audit row has it. Default: the value itself, of a secret only that it was given. */
  readonly audited?: (value: string) => unknown;
}

interface TextSpec extends CommonSpec {
  readonly type: 'text';
  /** What a value has to be, after "must be" and "Expected". */
  readonly expected?: string;
  readonly pattern?: RegExp;
  /** Whether the contract has the pattern. Only for patterns that need no flag. */
  readonly isPatternTold?: true;
  /** In characters. */
  readonly most?: number;
  readonly least?: number;
  /** What is wrong with a text, to be read after its name; undefined if nothing is. */
  readonly faultOf?: (text: string) => string | undefined;
  /** Whether a text is what is expected, if a pattern cannot say it. */
  readonly isRight?: (text: string) => boolean;
}

interface WholeSpec extends CommonSpec {
  readonly type: 'whole';
  readonly min: number;
  readonly max: number;
  /** What the command takes where nothing is given. */
  readonly default?: number;
}

interface NumberTextSpec<Type = 'decimal' | 'points'> extends CommonSpec {
  /** `decimal`: zero or more; `points`: a whole number that JSON can carry, at least 1. Both as texts. */
  readonly type: Type;
  readonly isAboveZero?: true;
  /** The word `none` removes the limit. */
  readonly orNone?: true;
}

interface FlagSpec extends CommonSpec {
  readonly type: 'flag';
  /** Help of the option that says no, such as `--no-confirm`. */
  readonly helpOfNo?: string;
}

interface WordsSpec<Type> extends CommonSpec {
  /** `words`: a list; `choice`: one of them. */
  readonly type: Type;
  readonly values: readonly string[];
  /** What each value means, for forms. */
  readonly meanings?: Readonly<Record<string, string>>;
  /** Of a list: not empty, and given with commas. */
  readonly isSome?: true;
}

interface PartsSpec<Type = 'group' | 'list'> extends CommonSpec {
  /** `group`: an object; `list`: a list of objects. */
  readonly type: Type;
  readonly of: () => FieldsClass;
  readonly most?: number;
}

interface PlainSpec<Type> extends CommonSpec {
  /** `secret` is never shown, and stored sealed; `moment` is a time of RFC 3339, or a date: the beginning of that UTC day. */
  readonly type: Type;
  /** Of a secret: the value only names its owner, so the command takes it as an argument without a warning. */
  readonly isName?: true;
}

export type FieldSpec =
  | TextSpec
  | WholeSpec
  | NumberTextSpec<'decimal'>
  | NumberTextSpec<'points'>
  | FlagSpec
  | WordsSpec<'words'>
  | WordsSpec<'choice'>
  | PartsSpec<'group'>
  | PartsSpec<'list'>
  | PlainSpec<'secret'>
  | PlainSpec<'uuid'>
  | PlainSpec<'moment'>
  | PlainSpec<'wallet'>;

/** A class whose fields are decorated. */
export type FieldsClass<T extends object = object> = new (...args: never[]) => T;

const SPECS = new WeakMap<object, Map<string, FieldSpec>>();

/** Declares a field. Fields of a subclass come after those of its parent; one of the same name replaces it. */
export function Field(spec: FieldSpec): PropertyDecorator {
  return (prototype, name) => {
    const own = SPECS.get(prototype) ?? new Map<string, FieldSpec>();
    SPECS.set(prototype, own.set(String(name), spec));
    // A part of the path is checked by the route, if there is a rule for it.
    if (spec.inPath === true && !('isRight' in spec)) return;
    if (spec.required !== true) {
      // JSON null is a value like any other, which the rules of the field refuse.
      ValidateIf((_, value: unknown) => value !== undefined)(prototype, name);
    }
    for (const rule of rulesOf(spec)) rule(prototype, name);
  };
}

/** One field of a class, for a text that names it. */
export function fieldOf<T extends object>(type: FieldsClass<T>, name: keyof T & string): FieldSpec {
  const spec = fieldsOf(type).get(name);
  if (spec === undefined) throw new TypeError(`${type.name} has no field ${name}`);
  return spec;
}

/** The fields of a class by name, with those of its parents. */
export function fieldsOf(type: FieldsClass): ReadonlyMap<string, FieldSpec> {
  const found = new Map<string, FieldSpec>();
  const chain: object[] = [];
  let at: object | null = type.prototype as object;
  for (; at !== null; at = Object.getPrototypeOf(at) as object | null) chain.unshift(at);
  for (const prototype of chain) {
    for (const [name, spec] of SPECS.get(prototype) ?? []) found.set(name, spec);
  }
  return found;
}

/** `--bonus-from` of a field. */
export function optionName({ option = '' }: FieldSpec): string {
  return option.split(' ')[0] ?? '';
}

/** Whether the command has the field, so that it is kept and audited. Other fields are of pages alone. */
export function isOfCommand({ option, argument }: FieldSpec): boolean {
  return option !== undefined || argument !== undefined;
}

/** `bonusFrom`, as the values of the option `--bonus-from` are named. */
export function optionAttribute(spec: FieldSpec): string {
  if (spec.argument !== undefined) return spec.argument.slice(1, -1);
  return optionName(spec)
    .slice(2)
    .replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Removes a limit. */
export const NONE = 'none';

const DECIMAL = String.raw`\d{1,30}(?:\.\d{1,30})?`;
const POINTS = String.raw`[1-9]\d{0,15}`;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const WALLET = /^0x[0-9a-fA-F]{40}$/;
const LONGEST_SECRET = 4096;

type Schema = Readonly<Record<string, unknown>>;

interface Kind {
  /** What a value has to be, after "must be" and "Expected". */
  readonly expected: string;
  readonly schema: Schema;
  readonly rules: (message: string) => readonly PropertyDecorator[];
}

type KindOf<Type extends FieldSpec['type']> = (spec: Extract<FieldSpec, { type: Type }>) => Kind;

const KINDS: { readonly [Type in FieldSpec['type']]: KindOf<Type> } = {
  text: (spec) => ({
    expected: spec.expected ?? `a text of at most ${spec.most ?? 'any number of'} characters`,
    schema: {
      type: 'string',
      ...(spec.isPatternTold === true && { pattern: spec.pattern?.source }),
      ...(spec.least !== undefined && { minLength: spec.least }),
      ...(spec.most !== undefined && { maxLength: spec.most }),
    },
    rules: (message) => [
      IsString({ message }),
      ...(spec.pattern === undefined ? [] : [Matches(spec.pattern, { message })]),
      ...(spec.isRight === undefined ? [] : [IsRight(spec.isRight, message)]),
      ...(spec.most === undefined || (spec.pattern ?? spec.isRight) !== undefined
        ? []
        : [MaxLength(spec.most, { message: `${nameOf(spec)} is too long.` })]),
      ...(spec.faultOf === undefined ? [] : [HasNoFault(spec.faultOf, nameOf(spec))]),
    ],
  }),
  secret: () => ({
    expected: `1 to ${LONGEST_SECRET} characters without control characters`,
    schema: { type: 'string', minLength: 1, maxLength: LONGEST_SECRET, writeOnly: true },
    rules: (message) => [Matches(new RegExp(`^\\P{Cc}{1,${LONGEST_SECRET}}$`, 'u'), { message })],
  }),
  whole: ({ min, max, default: value }) => ({
    expected: `a whole number of at least ${min}`,
    schema: {
      ...{ type: 'integer', minimum: min, maximum: max },
      ...(value !== undefined && { default: value }),
    },
    rules: (message) => [IsInt({ message }), Min(min, { message }), Max(max, { message })],
  }),
  decimal: (spec) => ({
    expected: `a decimal ${spec.isAboveZero === true ? 'above 0, ' : ''}such as 0.01${orNone(spec)}`,
    schema: { type: 'string', pattern: numberPattern(DECIMAL, spec).source },
    rules: (message) => [
      ...(spec.isAboveZero === true ? [Matches(/[1-9]/, { message })] : []),
      Matches(numberPattern(DECIMAL, spec), { message }),
    ],
  }),
  points: (spec) => ({
    expected: `a whole number of points, at least 1${orNone(spec)}`,
    schema: { type: 'string', pattern: numberPattern(POINTS, spec).source },
    rules: (message) => [IsSafeNumber(message), Matches(numberPattern(POINTS, spec), { message })],
  }),
  flag: () => ({
    expected: 'true or false',
    schema: { type: 'boolean' },
    rules: (message) => [IsBoolean({ message })],
  }),
  words: (spec) => ({
    expected: `${spec.isSome === true ? 'some' : `${NONE} or one`} of ${spec.values.join(', ')}`,
    schema: {
      type: 'array',
      items: {
        ...{ type: 'string', enum: [...spec.values] },
        ...(spec.meanings !== undefined && { 'x-enumDescriptions': spec.meanings }),
      },
    },
    rules: () => [
      IsIn(spec.values, { each: true, message: `${nameOf(spec)} has one that is not known.` }),
      ...listRules(spec, spec.values.length),
    ],
  }),
  choice: ({ values }) => ({
    expected: `one of ${values.join(', ')}`,
    schema: { type: 'string', enum: [...values] },
    rules: (message) => [IsIn(values, { message })],
  }),
  uuid: () => ({
    expected: 'a UUID',
    schema: { type: 'string', format: 'uuid' },
    rules: (message) => [Matches(UUID, { message })],
  }),
  moment: () => ({
    expected: 'a UTC time such as 2026-11-21 or 2026-11-21T10:00:00Z',
    schema: { type: 'string', format: 'date-time' },
    rules: (message) => [IsRight(isMoment, message)],
  }),
  wallet: () => ({
    expected: '0x and 40 hex digits',
    schema: { type: 'string', pattern: WALLET.source },
    rules: (message) => [Matches(WALLET, { message })],
  }),
  group: (spec) => ({
    expected: 'an object',
    schema: {},
    rules: () => partsRules(spec),
  }),
  list: (spec) => ({
    expected: 'a list',
    schema: { ...(spec.most !== undefined && { maxItems: spec.most }) },
    rules: () => [...partsRules(spec, { each: true }), ...listRules(spec, spec.most)],
  }),
};

function kindOf(spec: FieldSpec): Kind {
  return (KINDS[spec.type] as (spec: FieldSpec) => Kind)(spec);
}

/** What a value of the field has to be, after "must be" and "Expected". */
export function expectedOf(spec: FieldSpec): string {
  return kindOf(spec).expected;
}

/** Whether the rules of a field accept the value. */
export function accepts(type: FieldsClass, name: string, value: unknown): boolean {
  const one = Object.assign(Object.create(type.prototype as object) as object, { [name]: value });
  return !validateSync(one).some(({ property }) => property === name);
}

/** The schema of the field in an OpenAPI document; of a `group` or a `list` all but that of `of`. */
export function schemaOf(spec: FieldSpec): Schema {
  return kindOf(spec).schema;
}

function rulesOf(spec: FieldSpec): readonly PropertyDecorator[] {
  const { expected, rules } = kindOf(spec);
  return rules(`${nameOf(spec)} must be ${expected}.`);
}

/** Names the field in refusals: by its label, if it has one. */
function nameOf({ label }: FieldSpec): string {
  return label === undefined ? '$property' : `“${label}”`;
}

function orNone(spec: NumberTextSpec): string {
  return spec.orNone === true ? ', or none' : '';
}

function numberPattern(number: string, spec: NumberTextSpec): RegExp {
  return new RegExp(spec.orNone === true ? `^(?:${NONE}|${number})$` : `^${number}$`);
}

function listRules(spec: FieldSpec, most?: number): PropertyDecorator[] {
  return [
    ...(most === undefined
      ? []
      : [ArrayMaxSize(most, { message: `${nameOf(spec)} has too many.` })]),
    IsArray({ message: `${nameOf(spec)} must be a list.` }),
  ];
}

/** `ValidateNested` alone lets a list pass, also one without any object in it. */
function partsRules(spec: PartsSpec, each?: { readonly each: true }): PropertyDecorator[] {
  const options = { ...each, message: `${nameOf(spec)} is not valid.` };
  return [ValidateNested(options), IsObject(options), Type(spec.of)];
}

function HasNoFault(
  faultOf: (text: string) => string | undefined,
  name: string,
): PropertyDecorator {
  const faultIn = (value: unknown): string | undefined => faultOf(String(value));
  return ValidateBy({
    name: 'hasNoFault',
    validator: {
      validate: (value) => faultIn(value) === undefined,
      defaultMessage: (args) => `${name} ${faultIn(args?.value) ?? ''}.`,
    },
  });
}

function IsRight(isRight: (text: string) => boolean, message: string): PropertyDecorator {
  const validate = (value: unknown): boolean => typeof value === 'string' && isRight(value);
  return ValidateBy({ name: 'isRight', validator: { validate, defaultMessage: () => message } });
}

/** Calls to partners carry points as a JSON number. */
function IsSafeNumber(message: string): PropertyDecorator {
  const validate = (value: unknown): boolean =>
    value === NONE || Number(value) <= Number.MAX_SAFE_INTEGER;
  return ValidateBy({
    name: 'isSafeNumber',
    validator: { validate, defaultMessage: () => message },
  });
}
