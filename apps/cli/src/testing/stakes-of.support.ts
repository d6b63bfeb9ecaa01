/** STAKE_EVENTS files. Counts as a test file without being one. */
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
  return fileOf(events);
}

/** @returns path of a STAKE_EVENTS file of the usual events with these views */
export function stakesWith(views: object): Promise<string> {
  return fileOf({ events: 'staked-withdrawn', ...views });
}

async function fileOf(description: object): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'stake-events-')), 'events.json');
  await writeFile(file, JSON.stringify(description));
  return file;
}
