import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type ConformanceOptions, OptionsError } from '../run/options.js';

export interface CliArguments {
  readonly options: ConformanceOptions;
  readonly isJson: boolean;
  /** Printed once, on standard error. */
  readonly notes: readonly string[];
}

export const USAGE = `Usage: lowmark-conformance --base-url URL --address WALLET [options]

Tries a partner's four endpoints against the interface, and gives back what it deducted.

  --base-url URL             with the path in front of the endpoints, such as https://game.example/api/v1
  --address WALLET           a player with a few points (5 or more), of whom nothing else is moved meanwhile
  --empty-address WALLET     a player with none; without it that is not tried

  --api-key-file FILE        the key that the service sends         or LOWMARK_API_KEY, or --api-key KEY
  --shared-secret-file FILE  the secret that signs both ways        or LOWMARK_SHARED_SECRET, or --shared-secret SECRET
                             (what is given on the command line can be seen in the list of processes)

  --no-confirm               the partner does not offer POST /confirm-redemption
  --no-claim                 do not confirm a claim, which costs one point for good
  --timeout-seconds N        for each answer; default 10 for reads, 15 for the rest, as the service has it
  --json                     the report as JSON on standard output
  --help

Exit status: 0 everything was tried and no error found (warnings do not count), 1 errors, or points that could not be
given back, 2 it could not run, or not to its end.`;

export type Environment = Readonly<Record<string, string | undefined>>;

const OPTIONS = {
  'base-url': { type: 'string' },
  address: { type: 'string' },
  'empty-address': { type: 'string' },
  'api-key': { type: 'string' },
  'api-key-file': { type: 'string' },
  'shared-secret': { type: 'string' },
  'shared-secret-file': { type: 'string' },
  'no-confirm': { type: 'boolean' },
  'no-claim': { type: 'boolean' },
  'timeout-seconds': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/**
 * @returns undefined where help is asked for
 * @throws OptionsError whose message holds no secret
 */
export function readArguments(
  args: readonly string[],
  environment: Environment,
): CliArguments | undefined {
  const values = parse(args);
  if (values.help === true) return undefined;
  const notes: string[] = [];
  const secret = (name: 'api-key' | 'shared-secret', variable: string): string => {
    const given = values[name];
    const file = values[`${name}-file`];
    if (given !== undefined && file !== undefined) {
      throw new OptionsError(`Give --${name} or --${name}-file, not both.`);
    }
    if (file !== undefined) return readSecret(file, name);
    if (given !== undefined) {
      notes.push(
        `--${name} can be seen in the list of processes and in the shell's history. Better: --${name}-file, or ${variable}.`,
      );
      return given;
    }
    return environment[variable] ?? missing(`--${name}-file, ${variable} or --${name}`);
  };
  const timeoutMs = readTimeout(values['timeout-seconds']);
  const emptyAddress = values['empty-address'];
  const options = {
    baseUrl: values['base-url'] ?? missing('--base-url'),
    address: values.address ?? missing('--address'),
    apiKey: secret('api-key', 'LOWMARK_API_KEY'),
    sharedSecret: secret('shared-secret', 'LOWMARK_SHARED_SECRET'),
    hasConfirm: values['no-confirm'] !== true,
    mayClaim: values['no-claim'] !== true,
    ...(emptyAddress === undefined ? {} : { emptyAddress }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  return { options, isJson: values.json === true, notes };
}

function parse(args: readonly string[]): ReturnType<typeof parsed> {
  try {
    return parsed(args);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Node's own message repeats the arguments, and a secret may be among them by mistake.
    if (code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') {
      throw new OptionsError('There is an argument that belongs to no option.');
    }
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
      throw new OptionsError('There is an option that is not known.');
    }
    throw new OptionsError('An option is given without its value, or with one that it has not.');
  }
}

function parsed(args: readonly string[]): {
  -readonly [K in keyof typeof OPTIONS]?:
    ((typeof OPTIONS)[K]['type'] extends 'string' ? string : boolean) | undefined;
} & { 'api-key-file'?: string | undefined; 'shared-secret-file'?: string | undefined } {
  return parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: false })
    .values;
}

/** Removes one line break at the end, which an editor adds to the secret. */
function readSecret(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new OptionsError(`The file of --${name}-file cannot be read (${code}).`);
  }
}

function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (!(seconds >= 0.1 && seconds <= 60)) {
    throw new OptionsError('--timeout-seconds must be a number from 0.1 to 60.');
  }
  return Math.round(seconds * 1000);
}

function missing(what: string): never {
  throw new OptionsError(`${what} is missing. Try --help.`);
}
