import 'reflect-metadata';

export interface SettingOptions {
  /** One or two sentences for the operator; they become the comment in `.env.example`. */
  readonly description: string;
  /** As it would be written in the environment; absent: the variable must be set, unless `optional`. */
  readonly default?: string;
  /** True where the setting may be missing and has no default; the property is then undefined. */
  readonly optional?: boolean;
  /** A secret may also be given as NAME_FILE, the path of a file that holds it. */
  readonly secret?: boolean;
  /** What `.env.example` shows where there is no default. Never a working secret. */
  readonly example?: string;
  /**
   * Makes the value from the text; needed for types other than string, number and boolean. Throws an Error whose message
   * says what is expected ("must be ..."), without the text.
   */
  readonly parse?: (text: string) => unknown;
}

export interface SettingMetadata extends SettingOptions {
  /** The property of the class, in camel case. */
  readonly property: string;
  /** The environment variable: the property in capitals with underscores. */
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
    // The emitted type of an alias or a union is no more than Object.
    if (setting.type === 'other' && setting.parse === undefined) {
      throw new TypeError(
        `${setting.variable} is neither string, number nor boolean: give it a parse`,
      );
    }
    Reflect.defineMetadata(KEY, [...metadataOf(target), setting], target);
  };
}

/** The settings of a class, those of its parents first, in the order of their declaration. */
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
