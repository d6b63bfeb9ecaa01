import { readFile } from 'node:fs/promises';
import { type Terminal } from '../commands/terminal.js';
import { OptionError } from '../option.error.js';
import { type CallbackOptions } from './callback-options.js';

const LONGEST = 4096;
const WARNING =
  'Warning: arguments are in the process list and in the shell’s history. Better: --callback-secret-file PATH, or --callback-secret - and the standard input.\n';

/**
 * The callback's secret from wherever it was said to be; undefined where it was not given. Neither decoded nor trimmed, but for
 * the line break at the end of a file.
 * @throws OptionError, which never shows it
 */
export async function readCallbackSecret(
  { callbackSecret, callbackSecretFile }: CallbackOptions,
  terminal: Terminal,
): Promise<string | undefined> {
  if (callbackSecret !== undefined && callbackSecretFile !== undefined) {
    throw new OptionError('Give either --callback-secret or --callback-secret-file.');
  }
  if (callbackSecretFile !== undefined) {
    return usable(await fromFile(callbackSecretFile), 'The file of --callback-secret-file');
  }
  if (callbackSecret === '-') {
    const text = terminal.input === undefined ? '' : await terminal.input();
    return usable(text, 'The standard input');
  }
  if (callbackSecret === undefined) return undefined;
  terminal.err(WARNING);
  return usable(callbackSecret, '--callback-secret');
}

async function fromFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code = 'no code' } = error as NodeJS.ErrnoException;
    throw new OptionError(`The file of --callback-secret-file cannot be read (${code}).`);
  }
}

function usable(text: string, where: string): string {
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '' || secret.length > LONGEST) {
    throw new OptionError(`${where} does not hold a secret of 1 to ${LONGEST} characters.`);
  }
  // More than one line is a file with something else in it, or a paste gone wrong.
  if (/\p{Cc}/u.test(secret)) throw new OptionError(`${where} holds control characters.`);
  return secret;
}
