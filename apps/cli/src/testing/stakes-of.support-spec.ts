/** STAKE_EVENTS files that count only a part of the stakes. Counts as a test file without being one. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @returns path of a STAKE_EVENTS file that counts only stakes of this amount */
export async function stakesOf(amount: bigint): Promise<string> {
  const events = (['Staked', 'Withdrawn'] as const).map((name) => ({
    event: `event ${name}(address indexed user, uint256 amount)`,
    effect: name === 'Staked' ? 'increase' : 'decrease',
    account: 'user',
    amount: 'amount',
    where: { amount: amount.toString() },
  }));
  const file = join(await mkdtemp(join(tmpdir(), 'stake-events-')), 'events.json');
  await writeFile(file, JSON.stringify(events));
  return file;
}
