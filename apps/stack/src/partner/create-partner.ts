import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { type StackPartner } from '../data/stack-file.js';
import { childEnvironment } from '../services/environment.js';
import { mainOf } from '../services/service.js';
import { StackError } from '../stack.error.js';

/** Makes a partner with a credential, with the operator's own command. */
export async function createPartner(
  database: string,
  secrets: { readonly DATABASE_URL: string; readonly SECRETS_KEY: string },
): Promise<StackPartner> {
  const name = `local-${randomBytes(3).toString('hex')}`;
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [mainOf('cli'), 'partner', 'create', '--name', name, '--json'],
      { env: childEnvironment(secrets) },
    );
    const { apiKey, sharedSecret } = JSON.parse(stdout) as StackPartner;
    return { name, apiKey, sharedSecret, database };
  } catch (cause) {
    const { stderr } = cause as { stderr?: string };
    throw new StackError(`The partner could not be created: ${stderr ?? String(cause)}`, { cause });
  }
}
