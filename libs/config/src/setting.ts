/**
 * Settings classes: `@Setting` and the parsers for it. A parser's message says what is expected and never repeats the
 * text.
 */
import 'reflect-metadata';
import { Max, Min } from 'class-validator';
import { type Address, parseAddress, PermanentError } from '#libs/domain';

export interface SettingOptions {
  /** One or two sentences for the operator; they become the comment in `.env.example`. */
  readonly description: string;
  /** Default, as written in the environment. Where absent, the variable must be set, unless `optional`. */
  readonly default?: string;
  /** The setting may be missing and has no default; the property is then undefined. */
  readonly optional?: boolean;
  /** A secret can also be given as NAME_FILE, the path of a file with the secret. */
  readonly secret?: boolean;
  /** Value in `.env.example` where there is no default. Never a working secret. */
  readonly example?: string;
  /**
   * Parses the text; needed for types other than string, number and boolean. Throws an Error whose message says what is
   * expected ("must be ..."), without the text.
   */
  readonly parse?: (text: string) => unknown;
  readonly min?: number;
  readonly max?: number;
  /** Not in the lists for operators: of the trial, of development, or given by a program of ours. */
  readonly unlisted?: boolean;
}

export interface SettingMetadata extends SettingOptions {
  readonly property: string;
  /** Name of the environment variable: the property in capitals with underscores. */
  readonly variable: string;
  readonly type: 'string' | 'number' | 'boolean' | 'other';
}

export type SettingsClass<T extends object = object> = new () => T;

const KEY = Symbol('settings');

/** Declares that a property is read from the environment: `rpcUrls` from `RPC_URLS`. */
export function Setting(options: SettingOptions): PropertyDecorator {
  return (target, property) => {
    if (typeof property !== 'string') throw new TypeError('a setting has a name');
    const designType: unknown = Reflect.getMetadata('design:type', target, property);
    const setting: SettingMetadata = {
      ...options,
      property,
      variable: property.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase(),
      type: typeName(designType),
    };
    // TypeScript emits Object as the type of an alias or a union.
    if (setting.type === 'other' && setting.parse === undefined) {
      throw new TypeError(
        `${setting.variable} is neither string, number nor boolean: give it a parse`,
      );
    }
    // A setting replaces the parent class's setting of the same name.
    const before = metadataOf(target);
    const isDeclared = before.some((one) => one.property === property);
    const settings = isDeclared
      ? before.map((one) => (one.property === property ? setting : one))
      : [...before, setting];
    Reflect.defineMetadata(KEY, settings, target);
    if (setting.min !== undefined) Min(setting.min)(target, property);
    if (setting.max !== undefined) Max(setting.max)(target, property);
  };
}

/** The settings of a class in the order of their declaration, parents first. */
export function settingsOf(Class: SettingsClass): readonly SettingMetadata[] {
  return metadataOf(Class.prototype as object);
}

function metadataOf(target: object): readonly SettingMetadata[] {
  return (Reflect.getMetadata(KEY, target) as SettingMetadata[] | undefined) ?? [];
}

function typeName(designType: unknown): SettingMetadata['type'] {
  if (designType === String) return 'string';
  if (designType === Number) return 'number';
  if (designType === Boolean) return 'boolean';
  return 'other';
}

/** Settings with which the program cannot start: every wrong variable with the expected form, never its value. */
export class SettingsError extends PermanentError {
  constructor(readonly faults: ReadonlyMap<string, string>) {
    const lines = [...faults].map(([variable, fault]) => `  ${variable} ${fault}`);
    super('SETTINGS_INVALID', `The settings are not usable:\n${lines.join('\n')}`);
  }
}

/** Parses a comma-separated list. Blanks around the parts are removed, empty parts refused. */
export function commaList(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.includes(''))
    throw new Error('must be a list separated by commas, without empty parts');
  return parts;
}

export function oneOf<T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    const word = words.find((one) => one === text);
    if (word === undefined) throw new Error(`must be one of ${words.join(', ')}`);
    return word;
  };
}

/** Parses comma-separated URLs, each with one of the schemes (without the colon). */
export function urlList(...schemes: string[]): (text: string) => string[] {
  return (text) => commaList(text).map(url(...schemes));
}

/** Parses a URL with one of the schemes. */
export function url(...schemes: string[]): (text: string) => string {
  return (text) => {
    if (!URL.canParse(text) || !schemes.includes(new URL(text).protocol.slice(0, -1))) {
      throw new Error(
        `must be a URL that starts with ${schemes.map((s) => `${s}://`).join(' or ')}`,
      );
    }
    return text;
  };
}

/** Parses a whole number of any size, zero or more. */
export function naturalBigInt(text: string): bigint {
  if (!/^\d+$/.test(text)) throw new Error('must be a whole number, zero or more');
  return BigInt(text);
}

/** Parses a key of the given size in standard base64. */
export function base64Key(bytes: number): (text: string) => Buffer {
  return (text) => {
    const key = Buffer.from(text, 'base64');
    if (key.length !== bytes || key.toString('base64') !== text) {
      throw new Error(`must be ${bytes} bytes in base64 (make one: openssl rand -base64 ${bytes})`);
    }
    return key;
  };
}

/** Parses comma-separated base64 keys; the value is the text. */
export function base64Keys(bytes: number): (text: string) => string {
  return (text) => {
    commaList(text).forEach(base64Key(bytes));
    return text;
  };
}

export function privateKey(text: string): string {
  if (!/^(?:0x)?[0-9a-fA-F]{64}$/.test(text)) {
    throw new Error('must be a private key of 64 hex digits');
  }
  return text;
}

/** Parses an address of an EVM chain, in upper or lower case. */
export function address(text: string): Address {
  const parsed = parseAddress(text);
  if (!parsed) throw new Error('must be 0x and 40 hex digits');
  return parsed;
}

export function finality(text: string): string {
  if (!/^(finalized|safe|depth:[1-9]\d{0,6})$/.test(text))
    throw new Error('must be finalized, safe or depth:<blocks>');
  return text;
}
