import { randomBytes } from 'node:crypto';
import { type StackPartner } from '../data/stack-file.js';
import { operator, type OperatorSettings } from './operator.js';

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
