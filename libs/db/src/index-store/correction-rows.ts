/** Writes a correction in the transaction of the repair. */
import { type PoolClient } from 'pg';
import { type CorrectedDays, type RowDifference } from '#libs/domain';
import { named } from '../connection/named.js';
import { run } from '../connection/database.js';
import { byteaArray } from '../connection/rows.js';

/** A balance change that was wrong. Balances in the token's smallest unit; null where there is no row. */
export interface CorrectedBlock {
  readonly wallet: string;
  readonly block: number;
  readonly stored: string | null;
  readonly correct: string | null;
}

const INSERT = named<Record<'stakeSet' | 'reason' | 'actor' | 'blocks', string>>(
  'correction_insert',
  `INSERT INTO partners.correction (stake_set, reason, actor, blocks) VALUES (:stakeSet, :reason, :actor, :blocks) RETURNING id`,
);

const INSERT_DAYS = named<Record<string, string | Buffer>>(
  'correction_days',
  `INSERT INTO partners.corrected_days (correction, wallet, first_day, last_day, stored, correct)
    SELECT :id::bigint, * FROM unnest(:wallets::bytea[], :firsts::int[], :lasts::int[], :stored::numeric[], :correct::numeric[])`,
);

/** Writes nothing if no row differed. */
export async function insertCorrection(
  client: PoolClient,
  correction: { readonly stakeSet: string; readonly reason: string; readonly actor: string },
  found: {
    readonly days: readonly CorrectedDays[];
    readonly differences: readonly RowDifference[];
  },
): Promise<void> {
  const blocks = found.differences.flatMap(correctedBlocks);
  const { days } = found;
  if (blocks.length === 0 && days.length === 0) return;
  const { stakeSet, reason, actor } = correction;
  const [row] = await run<{ id: string }>(
    client,
    INSERT({ stakeSet, reason, actor, blocks: JSON.stringify(blocks) }),
  );
  await client.query(
    INSERT_DAYS({
      id: row?.id ?? '',
      wallets: byteaArray(days.map(({ wallet }) => wallet)),
      firsts: listOf(days.map(({ firstDay }) => firstDay)),
      lasts: listOf(days.map(({ lastDay }) => lastDay)),
      stored: listOf(days.map(({ stored }) => stored)),
      correct: listOf(days.map(({ correct }) => correct)),
    }),
  );
}

function correctedBlocks({ remove, add }: RowDifference): CorrectedBlock[] {
  const blocks = new Map<string, { -readonly [K in keyof CorrectedBlock]: CorrectedBlock[K] }>();
  const at = (wallet: string, number: bigint) => {
    const key = `${wallet} ${number}`;
    const found = blocks.get(key) ?? { wallet, block: Number(number), stored: null, correct: null };
    blocks.set(key, found);
    return found;
  };
  for (const { wallet, blockNumber, balance } of remove.changes) {
    at(wallet, blockNumber).stored = String(balance);
  }
  for (const { wallet, blockNumber, balance } of add.changes) {
    at(wallet, blockNumber).correct = String(balance);
  }
  return [...blocks.values()];
}

function listOf(values: readonly (number | bigint)[]): string {
  return `{${values.join()}}`;
}
