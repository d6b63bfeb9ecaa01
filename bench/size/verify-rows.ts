/**
 * Compares each row of an index with what the generator says of the wallet at that block and day. The rows are streamed
 * and the expected values computed one by one, so memory stays small at any size. A row that is right, with a key of
 * its own, as often as the history has changes: no row is missing, none is too many.
 */
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { dayOf } from '#libs/domain';
import {
  eventBlocksIn,
  FOLLOWED_POOL,
  type ReplayChain,
  replayWalletNumber,
} from '../replay/index.js';
import { Progress } from '../support/progress.js';

export interface RowCounts {
  readonly changes: number;
  readonly days: number;
}

/** @returns what is wrong, at most a few lines for each table; empty where the index is right */
export async function wrongRows(
  client: pg.Client,
  chain: ReplayChain,
  expected: RowCounts,
): Promise<string[]> {
  const wrong: string[] = [];
  const balanceAt = (address: string, block: number): string | undefined => {
    const wallet = replayWalletNumber(chain.shape, `0x${address}`);
    if (wallet === undefined) return undefined;
    return chain.history.balanceAt(wallet, FOLLOWED_POOL, block).toString();
  };
  await eachRow(client, {
    text: `SELECT encode(wallet, 'hex'), block, balance, seconds FROM staking.balance_change`,
    expected: expected.changes,
    wrong,
    isRight: ([address = '', block, balance, seconds]) =>
      balanceAt(address, Number(block)) === balance &&
      chain.secondsOf(Number(block)) === Number(seconds),
  });
  const closing = closingBlocks(chain);
  await eachRow(client, {
    text: `SELECT encode(wallet, 'hex'), day, closing FROM staking.balance_day`,
    expected: expected.days,
    wrong,
    isRight: ([address = '', day, balance]) =>
      balanceAt(address, closing.get(Number(day)) ?? -1) === balance,
  });
  await eachRow(client, {
    text: `SELECT day, total FROM staking.day_total`,
    expected: closing.size,
    wrong,
    isRight: ([day, total]) =>
      chain.history.totalAt(closing.get(Number(day)) ?? -1).toString() === total,
  });
  const { rows } = await client.query<{ total: string }>('SELECT total FROM staking.index_state');
  const total = chain.history.totalAt(chain.head).toString();
  if (rows[0]?.total !== total) wrong.push(`the total is ${rows[0]?.total ?? ''} and not ${total}`);
  return wrong;
}

/** The rows that an index of the whole history has. */
export function countRows(chain: ReplayChain): RowCounts {
  const { history, shape } = chain;
  const newestDay = new Int32Array(shape.wallets).fill(-1);
  let [changes, days] = [0, 0];
  for (const block of eventBlocksIn(history, { from: 0, to: chain.head })) {
    const day = dayOf(chain.secondsOf(block));
    for (const wallet of changedIn(chain, block)) {
      changes += 1;
      if (newestDay[wallet] === day) continue;
      newestDay[wallet] = day;
      days += 1;
    }
  }
  return { changes, days };
}

/** The wallets whose balance at the end of the block is another than before, each once. */
function changedIn({ history }: ReplayChain, block: number): Set<number> {
  const { first, end } = history.eventsOf(block);
  const changed = new Set<number>();
  const again = new Set<number>();
  for (let event = first; event < end; event++) {
    const { wallet } = history.move(event);
    (changed.has(wallet) ? again : changed).add(wallet);
  }
  const at = (wallet: number, number: number): bigint =>
    history.balanceAt(wallet, FOLLOWED_POOL, number);
  // Several events of a wallet may leave its balance as it was.
  for (const wallet of again)
    if (at(wallet, block - 1) === at(wallet, block)) changed.delete(wallet);
  return changed;
}

/** The last block of each day, by day; every block has events. */
function closingBlocks(chain: ReplayChain): Map<number, number> {
  const closing = new Map<number, number>();
  for (let block = 1; block <= chain.head; block++)
    closing.set(dayOf(chain.secondsOf(block)), block);
  return closing;
}

const MOST_LINES = 5;
const ROWS_OF_STEP = 100_000;

interface RowCheck {
  readonly text: string;
  readonly expected: number;
  readonly isRight: (fields: readonly string[]) => boolean;
  readonly wrong: string[];
}

async function eachRow(
  client: pg.Client,
  { text, expected, isRight, wrong }: RowCheck,
): Promise<void> {
  const progress = new Progress(text.slice(text.indexOf('staking.')), expected);
  let [rows, lines, rest] = [0, 0, ''];
  const check = (row: string): void => {
    if (++rows % ROWS_OF_STEP === 0) progress.at(rows);
    if (isRight(row.split('\t')) || lines++ >= MOST_LINES) return;
    wrong.push(`${progress.what}: ${row.replaceAll('\t', ' ')}`);
  };
  const checked = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const parts = (rest + chunk.toString('latin1')).split('\n');
      rest = parts.pop() ?? '';
      parts.forEach(check);
      done();
    },
  });
  await pipeline(client.query(copyTo(`COPY (${text}) TO STDOUT`)), checked);
  if (lines > MOST_LINES) wrong.push(`${progress.what}: ${lines} rows are wrong`);
  if (rows !== expected) wrong.push(`${progress.what}: ${rows} rows and not ${expected}`);
}
