/** Our own programs as child processes of the stack: their files, their environment, and the operator's commands. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { processEnvironment } from '#libs/config';
import { type PartnerCallbackKeys, type StackPartner } from './data/stack-file.js';
import { StackError } from './stack.error.js';

export function mainOf(app: string): string {
  return fileURLToPath(new URL(`../../${app}/src/main.js`, import.meta.url));
}

/**
 * The environment of a service: the environment of the stack, so that every setting of a service can be set at the
 * start of the stack, with the given variables. `added` replaces both forms of a variable (`NAME` and `NAME_FILE`);
 * `defaults` apply where a variable is unset or empty; `lists` are put in front of the existing value, with entries
 * separated by commas.
 */
export function childEnvironment(
  added: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>> = {},
  lists: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = { ...processEnvironment() };
  for (const [name, value] of Object.entries(defaults)) {
    if (!environment[name]) environment[name] = value;
  }
  for (const [name, value] of Object.entries(lists)) {
    environment[name] = environment[name] ? `${value},${environment[name]}` : value;
  }
  for (const [name, value] of Object.entries(added)) {
    environment[name] = value;
    environment[`${name}_FILE`] = undefined;
  }
  // The services log in as users of their own, at the server of DATABASE_URL.
  environment['DATABASE_DIRECT_URL'] = undefined;
  environment['DATABASE_DIRECT_URL_FILE'] = undefined;
  return environment;
}

export interface OperatorSettings extends Readonly<Record<string, string>> {
  readonly DATABASE_URL: string;
  readonly SECRETS_KEY: string;
}

/**
 * Runs one of the operator's commands.
 * @param input standard input of the command: a secret must not be an argument
 * @returns the standard output
 * @throws StackError with the command's error output where it fails
 */
export async function operator(
  args: readonly string[],
  settings: OperatorSettings,
  input = '',
): Promise<string> {
  const child = spawn(process.execPath, [mainOf('cli'), ...args], {
    env: childEnvironment(settings),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  // Writing to a command that ends without reading its input fails; the command explains why on its error stream.
  child.stdin.on('error', () => undefined).end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return out;
  throw new StackError(`"${args.slice(0, 2).join(' ')}" failed: ${err.trim() || String(code)}`);
}

export async function createPartner(
  database: string,
  settings: OperatorSettings,
): Promise<StackPartner> {
  const name = `local-${randomBytes(3).toString('hex')}`;
  const out = await operator(['partner', 'create', '--name', name, '--json'], settings);
  const { apiKey, sharedSecret } = JSON.parse(out) as StackPartner;
  return { name, apiKey, sharedSecret, database };
}

/** The capabilities of the reference partner; see its README. */
const CAPABILITIES = [
  'revert-by-redemption-id',
  'tombstones',
  'enforces-freshness',
  'signs-all-responses',
  'refuses-mismatched-pair',
];
const TERMS = [
  ...['--usd-per-point', '0.01', '--bonus-from', '5000', '--bonus-rate', '0.02'],
  ...['--daily-token-budget', '1000000'],
];

/** Sets the callback and the terms of the reference partner, with the operator's command. */
export async function setCallback(
  { name, url }: { readonly name: string; readonly url: string },
  { key, secret }: PartnerCallbackKeys,
  settings: OperatorSettings,
): Promise<void> {
  await operator(
    [
      ...['partner', 'set', name, '--callback-url', url, '--allow-private'],
      ...['--callback-key', key, '--callback-secret', '-'],
      ...TERMS,
      ...CAPABILITIES.flatMap((capability) => ['--capability', capability]),
    ],
    settings,
    secret,
  );
}
