import { readFile } from 'node:fs/promises';
import { OptionError } from '#libs/operations';
import { type Terminal } from '../command.js';

const LONGEST = 4096;

export interface SecretSource {
  /** Value of the option: the secret itself, or `-` for the standard input. */
  readonly value: string | undefined;
  readonly file: string | undefined;
  /** Name of the option without `-file`, such as `--callback-secret`. */
  readonly option: string;
  /** The value only names its owner, so no warning is needed where it is an argument. */
  readonly isName?: true | undefined;
}

/**
 * Reads a secret from its source; undefined where it was not given. The secret is neither decoded nor trimmed, except
 * for the line break at its end.
 * @throws OptionError, whose message never contains the secret
 */
export async function readSecret(
  { value, file, option, isName }: SecretSource,
  terminal: Terminal,
): Promise<string | undefined> {
  if (value !== undefined && file !== undefined) {
    throw new OptionError(`Give either ${option} or ${option}-file.`);
  }
  if (file !== undefined) {
    const text = await readOptionFile(file, `${option}-file`);
    return usable(text, `The file of ${option}-file`);
  }
  if (value === '-') {
    const text = terminal.input === undefined ? '' : await terminal.input();
    return usable(text, 'The standard input');
  }
  if (value === undefined) return undefined;
  if (isName === true) return usable(value, option);
  terminal.err(
    `Warning: arguments are in the process list and in the shell’s history. Better: ${option}-file PATH, or ${option} - and the standard input.\n`,
  );
  return usable(value, option);
}

/** @throws OptionError where the file cannot be read */
export async function readOptionFile(path: string, option: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code = 'no code' } = error as NodeJS.ErrnoException;
    throw new OptionError(`The file of ${option} cannot be read (${code}).`);
  }
}

function usable(text: string, where: string): string {
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '' || secret.length > LONGEST) {
    throw new OptionError(`${where} does not hold a secret of 1 to ${LONGEST} characters.`);
  }
  // Several lines mean a file with other content, or a wrong paste.
  if (/\p{Cc}/u.test(secret)) throw new OptionError(`${where} holds control characters.`);
  return secret;
}
