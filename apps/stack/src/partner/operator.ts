import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type PartnerCallbackKeys, type StackPartner } from '../data/stack-file.js';
import { childEnvironment, mainOf } from '../services/service.js';
import { StackError } from '../stack.error.js';

/** What the operator's commands need of the stack. */
export interface OperatorSettings extends Readonly<Record<string, string>> {
  readonly DATABASE_URL: string;
  readonly SECRETS_KEY: string;
}

/**
 * Runs one of the operator's own commands.
 * @param input what the command is given on its standard input: a secret has no place among the arguments
 * @returns what it printed
 * @throws StackError with its explanation where it fails
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
  // A command that ends without reading its input says on its error stream why.
  child.stdin.on('error', () => undefined).end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return out;
  throw new StackError(`"${args.slice(0, 2).join(' ')}" failed: ${err.trim() || String(code)}`);
}

/** Makes a partner with a credential, with the operator's own command. */
export async function createPartner(
  database: string,
  settings: OperatorSettings,
): Promise<StackPartner> {
  const name = `local-${randomBytes(3).toString('hex')}`;
  const out = await operator(['partner', 'create', '--name', name, '--json'], settings);
  const { apiKey, sharedSecret } = JSON.parse(out) as StackPartner;
  return { name, apiKey, sharedSecret, database };
}

/** What the reference partner can do; see its README. */
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

/** Tells the service how to call the reference partner and what its points are worth, with the operator's own command. */
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
