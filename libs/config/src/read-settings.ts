import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { validateSync } from 'class-validator';
import { accessOf } from '#libs/platform';
import { replacedConstants, TEST_CONSTANTS } from './constant.js';
import { type SettingMetadata, type SettingsClass, SettingsError, settingsOf } from './setting.js';

/** The source of settings: `process.env`, or a plain object. */
export type SettingsSource = Readonly<Record<string, string | undefined>>;

/** The unchanged environment, to pass on to other programs and for variables that are not our settings. */
export function processEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}

/**
 * Reads and validates the settings of one application. An empty variable counts as absent.
 *
 * @throws SettingsError that names every wrong variable with the expected form, and never a value
 */
export function readSettings<T extends object>(
  Class: SettingsClass<T>,
  source: SettingsSource = process.env,
): T {
  const settings = new Class();
  const faults = new Map<string, string>();
  for (const setting of settingsOf(Class)) {
    try {
      const text = textOf(setting, source);
      Object.assign(settings, { [setting.property]: text && valueOf(setting, text) });
    } catch (error) {
      faults.set(setting.variable, messageOf(error));
    }
  }
  try {
    Object.assign(settings, replacedConstants(Class, source));
  } catch (error) {
    faults.set(TEST_CONSTANTS, messageOf(error));
  }
  for (const [variable, fault] of constraintFaults(Class, settings)) {
    if (!faults.has(variable)) faults.set(variable, fault);
  }
  if (faults.size > 0) throw new SettingsError(faults);
  return settings;
}

function textOf(setting: SettingMetadata, source: SettingsSource): string | undefined {
  const { variable } = setting;
  // A file of variables that was written on Windows leaves a carriage return at the end of each value.
  const direct = source[variable]?.replace(/\r$/, '') || undefined;
  const path = setting.secret === true ? source[`${variable}_FILE`] || undefined : undefined;
  if (direct !== undefined && path !== undefined) {
    throw new Error(`is set twice: keep either ${variable} or ${variable}_FILE`);
  }
  const text = direct ?? (path === undefined ? undefined : secretFile(variable, path));
  const found = text ?? setting.default;
  if (found === undefined && setting.optional !== true) throw new Error('must be set');
  return found;
}

function secretFile(variable: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`cannot be read from the file that ${variable}_FILE names${why(path, cause)}`, {
      cause,
    });
  }
  // Editors and `echo` end a file with a line break that is not part of the secret, and some begin it with a mark.
  const secret = text.replace(/^\uFEFF/, '').replace(/\r?\n$/, '');
  if (secret === '') throw new Error(`is empty in the file that ${variable}_FILE names`);
  return secret;
}

/** Folder of the secrets in the containers of docker-compose.yml. */
const COMPOSE_SECRETS = '/run/lowmark/';

/** Never the path itself, since a secret may have been given in its place. */
function why(path: string, cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'EACCES') return `: ${accessOf(path)}`;
  if (code !== 'ENOENT' || !path.startsWith(COMPOSE_SECRETS)) return ` (${String(code)})`;
  return `, which is not there: ./lowmark secret set ${basename(path)}`;
}

function valueOf(setting: SettingMetadata, text: string): unknown {
  if (setting.parse !== undefined) return setting.parse(text);
  switch (setting.type) {
    case 'string':
      return text;
    case 'number': {
      // Number('') and Number(' ') would be 0, Number('0x10') would be 16.
      if (!/^-?\d+(\.\d+)?$/.test(text)) throw new Error('must be a number');
      return Number(text);
    }
    case 'boolean': {
      if (text !== 'true' && text !== 'false') throw new Error('must be true or false');
      return text === 'true';
    }
    case 'other':
      return text;
  }
}

function* constraintFaults(Class: SettingsClass, settings: object): Generator<[string, string]> {
  const absent = settingsOf(Class).filter(
    ({ property }) => (settings as Record<string, unknown>)[property] === undefined,
  );
  const faults = validateSync(settings, {
    forbidUnknownValues: false,
    validationError: { target: false, value: false },
  });
  for (const { property, constraints } of faults) {
    // `textOf` has already checked absent settings.
    if (absent.some((setting) => setting.property === property)) continue;
    const messages = Object.values(constraints ?? {}).map((message) =>
      message.startsWith(`${property} `) ? message.slice(property.length + 1) : message,
    );
    const setting = settingsOf(Class).find((one) => one.property === property);
    yield [setting?.variable ?? property, messages.join(', ')];
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'is not valid';
}
