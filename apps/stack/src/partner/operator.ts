import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { childEnvironment } from '../services/environment.js';
import { mainOf } from '../services/service.js';
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
