/** Reads snapshots from a large index, of quiet wallets and of the busiest one. */
import type pg from 'pg';
import { type Database, SnapshotStore } from '#libs/db';
import { type Address, dayOf } from '#libs/domain';
import { fixed, median, percentile } from '../support/figures.js';
import { Random, walletAt } from '../support/random.js';
import { type LargeHistory } from './large-history.js';

interface Reads {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Makes wallet 0 the busiest: a row for each day of ten years. */
export async function makeBusy(client: pg.Client): Promise<void> {
  await client.query(
    `INSERT INTO staking.balance_day (wallet, day, low, closing)
      SELECT decode($1, 'hex'), day, day * 10::numeric ^ 18, day * 10::numeric ^ 18 FROM generate_series(15000, 18650) AS day
      ON CONFLICT DO NOTHING`,
    [walletAt(0).slice(2)],
  );
}

/** Reads as the API does, one wallet after the other on one connection. */
export async function reads(
  database: Database,
  history: LargeHistory,
  times: number,
): Promise<string[]> {
  const random = new Random(7);
  const quiet = (): Address => walletAt(random.between(1, history.wallets - 1));
  const endDay = dayOf(history.block(history.blocks).timestampSeconds) + 1;
  const figures = [
    await readsOf(database, endDay, quiet, times),
    await readsOf(database, endDay, () => walletAt(0), times),
  ];
  return figures.flatMap(({ p50Ms, p99Ms }) => [fixed(p50Ms), fixed(p99Ms)]);
}

async function readsOf(
  database: Database,
  endDay: number,
  nextWallet: () => Address,
  times: number,
): Promise<Reads> {
  const store = new SnapshotStore(database);
  const ms: number[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    const wallet = nextWallet();
    const startMs = performance.now();
    const read = await store.read([{ wallet, endDay }]);
    ms.push(performance.now() - startMs);
    if (read?.daysTexts[0] === undefined) throw new Error(`${wallet} has no days`);
  }
  return { p50Ms: median(ms), p99Ms: percentile(ms, 0.99) };
}
