import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type BalanceChange } from '#libs/domain';

/** Rows in one piece of text: about 256 KiB. */
const ROWS_PER_CHUNK = 2500;

/** Writes the changes by COPY, on the connection of a transaction. */
export async function copyChanges(
  client: PoolClient,
  changes: readonly BalanceChange[],
): Promise<void> {
  const stream = client.query(
    copyFrom('COPY staking.balance_change (wallet, block, seconds, balance) FROM STDIN'),
  );
  await pipeline(Readable.from(chunks(changes)), stream);
}

function* chunks(changes: readonly BalanceChange[]): Generator<Buffer> {
  for (let start = 0; start < changes.length; start += ROWS_PER_CHUNK) {
    let text = '';
    for (const change of changes.slice(start, start + ROWS_PER_CHUNK)) {
      text += `\\\\x${change.wallet.slice(2)}\t${change.blockNumber.toString()}\t${change.timestampSeconds}\t${change.balance.toString()}\n`;
    }
    yield Buffer.from(text, 'latin1');
  }
}
