/** An index that needs partitions after some hundred blocks, and the indexer that writes it. */
import { expect } from '@jest/globals';
import { type BlockRef, dayOf, foldBlocks } from '#libs/domain';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { type Database, IndexStore, PartitionStore } from '../index.js';
import { PartitionAwaitedError } from './index-state.js';

const WALLETS = 40;
const SECONDS_PER_BLOCK = 3600;
const FIRST_SECONDS = 1_700_006_400;

/** Makes a partition large at about 1,400 rows; its bound is half as many rows ahead. */
export async function makePartitionsSmall(owner: Database): Promise<void> {
  await owner.query({
    text: `CREATE OR REPLACE FUNCTION staking.partition_bytes() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 131072::bigint'`,
  });
}

/**
 * The indexer with its own database user. Each block is one hour after the previous one, and changes the balances of
 * the first wallets or of all.
 */
export class Writer {
  readonly index: IndexStore;
  readonly partitions: PartitionStore;
  fence = 0n;
  head: BlockRef = blockOf(0);

  private constructor(
    readonly database: Database,
    private readonly owner: Database,
  ) {
    this.index = new IndexStore(database);
    this.partitions = new PartitionStore(database);
  }

  static async start(of: TestDatabase): Promise<Writer> {
    const writer = new Writer(
      await of.open({ url: of.urlAs('indexer'), poolSize: 3 }),
      await of.open({ poolSize: 1 }),
    );
    await writer.index.create(anInitialIndex({ head: writer.head }));
    writer.fence = await writer.index.takeLead();
    return writer;
  }

  async write(blocks: number, ofWallets = WALLETS): Promise<void> {
    const { index, fence, head: previousHead } = this;
    const first = Number(previousHead.number) + 1;
    const refs = Array.from({ length: blocks }, (_, place) => blockOf(first + place));
    const wallets = Array.from({ length: ofWallets }, (_, place) => aWallet(place + 1));
    const states = await index.walletStates(wallets, dayOf(blockOf(first).timestampSeconds));
    const folded = foldBlocks(
      states,
      refs.map(({ number, timestampSeconds }) => ({
        blockNumber: number,
        timestampSeconds,
        deltas: wallets.map((wallet) => ({ wallet, amount: (number % 7n) + 1n })),
      })),
    );
    const head = refs.at(-1) ?? previousHead;
    await index.commit({ fence, previousHead, head, folded, blocks: refs });
    this.head = head;
  }

  async rollback(number: number): Promise<void> {
    const to = blockOf(number);
    await this.index.rollback({ fence: this.fence, head: this.head, to });
    this.head = to;
  }

  /** Writes like the indexer, which tries again where it has to wait. */
  async writeOrWait(): Promise<void> {
    try {
      await this.write(4);
    } catch (error) {
      if (!(error instanceof PartitionAwaitedError)) throw error;
    }
  }

  /** Writes until each table has this number of partitions. */
  async writeUntil(partitions: number, ofWallets = WALLETS): Promise<void> {
    while ((await bounds('balance_day', this.owner)).length < partitions) {
      await this.write(4, ofWallets);
      await this.partitions.extend(this.fence);
    }
  }

  async step(table: string): Promise<string | undefined> {
    const [row] = await this.database.query<{ step: string }>(
      { text: 'SELECT staking.next_partition($1, $2) AS step' },
      [table, this.fence],
    );
    return row?.step;
  }
}

function blockOf(number: number): BlockRef {
  return aBlock(number, FIRST_SECONDS + number * SECONDS_PER_BLOCK);
}

export async function bounds(table: string, of: Database): Promise<string[]> {
  const rows = await of.query<{ bounds: string }>(
    {
      text: `SELECT pg_get_expr(c.relpartbound, c.oid) AS bounds FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
        WHERE inhparent = $1::regclass ORDER BY c.oid`,
    },
    [`staking.${table}`],
  );
  return rows.map((row) => row.bounds);
}

/** Checks that the partitions cover everything without a gap, and returns their number. */
export async function requireContiguous(table: string, of: Database): Promise<number> {
  const parts = (await bounds(table, of)).map((text) =>
    /FROM \((?:'?)(.*?)'?\) TO \('?(.*?)'?\)$/.exec(text)?.slice(1),
  );
  expect(parts[0]?.[0]).toBe('MINVALUE');
  expect(parts.at(-1)?.[1]).toBe('MAXVALUE');
  for (const [place, part] of parts.slice(1).entries()) expect(part?.[0]).toBe(parts[place]?.[1]);
  return parts.length;
}

export function contentOf(of: Database): Promise<unknown> {
  return Promise.all(
    ['balance_change', 'balance_day', 'balance_interval'].map((table) =>
      of.query({ text: `SELECT * FROM staking.${table} ORDER BY 1, 2, 3` }),
    ),
  );
}

/** An index of the same history in one partition. */
export async function withUnpartitioned(
  blocks: number,
  use: (database: Database) => Promise<void>,
): Promise<void> {
  const other = await createTestDatabase();
  try {
    const writer = await Writer.start(other);
    while (writer.head.number < blocks) {
      await writer.write(Math.min(4, blocks - Number(writer.head.number)));
    }
    const opened = await other.open();
    expect(await bounds('balance_change', opened)).toHaveLength(1);
    await use(opened);
  } finally {
    await other.drop();
  }
}
