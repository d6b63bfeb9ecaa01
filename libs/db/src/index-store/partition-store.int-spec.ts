/** Partitions of the large tables: added beside writers and readers, whoever is killed, and never in their way for long. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type BlockRef, dayOf, foldBlocks } from '#libs/domain';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing';
import {
  type Database,
  IndexStore,
  PARTITIONED_TABLES,
  PartitionStore,
  PROGRAMS,
  SnapshotStore,
} from '../index.js';
import { PartitionAwaitedError } from './index-state.js';

const WALLETS = 40;
const SECONDS_PER_BLOCK = 3600;
const FIRST_SECONDS = 1_700_006_400;

let test: TestDatabase;
let owner: Database;

beforeEach(async () => {
  test = await createTestDatabase();
  owner = await test.open();
  await owner.query({
    text: `CREATE OR REPLACE FUNCTION staking.partition_bytes() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 131072::bigint'`,
  });
});
afterEach(() => test.drop());

/** The indexer, by its own user: an hour a block, in each of which every wallet's balance changes. */
class Writer {
  readonly index: IndexStore;
  readonly partitions: PartitionStore;
  fence = 0n;
  head: BlockRef = blockOf(0);

  private constructor(readonly database: Database) {
    this.index = new IndexStore(database);
    this.partitions = new PartitionStore(database);
  }

  static async start(of = test): Promise<Writer> {
    const writer = new Writer(await of.open({ url: of.urlAs('indexer'), poolSize: 3 }));
    await writer.index.create(anInitialIndex({ head: writer.head }));
    writer.fence = await writer.index.takeLead();
    return writer;
  }

  async write(blocks: number): Promise<void> {
    const { index, fence, head: previousHead } = this;
    const first = Number(previousHead.number) + 1;
    const refs = Array.from({ length: blocks }, (_, place) => blockOf(first + place));
    const wallets = Array.from({ length: WALLETS }, (_, place) => aWallet(place + 1));
    const states = await index.walletStates(wallets, dayOf(blockOf(first).timestampSeconds));
    const { changes, days, totalDelta } = foldBlocks(
      states,
      refs.map(({ number, timestampSeconds }) => ({
        blockNumber: number,
        timestampSeconds,
        deltas: wallets.map((wallet) => ({ wallet, amount: (number % 7n) + 1n })),
      })),
    );
    const head = refs.at(-1) ?? previousHead;
    const total = ((await index.state())?.total ?? 0n) + totalDelta;
    await index.commit({ fence, previousHead, head, changes, days, total, blocks: refs });
    this.head = head;
  }

  async rollback(number: number): Promise<void> {
    const to = blockOf(number);
    await this.index.rollback({ fence: this.fence, head: this.head, to });
    this.head = to;
  }

  /** As the indexer does, which tries again where it has to wait. */
  async writeOrWait(): Promise<void> {
    try {
      await this.write(4);
    } catch (error) {
      if (!(error instanceof PartitionAwaitedError)) throw error;
    }
  }

  /** Goes on until each table has so many partitions. */
  async writeUntil(partitions: number): Promise<void> {
    while ((await bounds('balance_day')).length < partitions) {
      await this.write(4);
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

async function bounds(table: string, of = owner): Promise<string[]> {
  const rows = await of.query<{ bounds: string }>(
    {
      text: `SELECT pg_get_expr(c.relpartbound, c.oid) AS bounds FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
        WHERE inhparent = $1::regclass ORDER BY c.oid`,
    },
    [`staking.${table}`],
  );
  return rows.map((row) => row.bounds);
}

/** From the beginning to the end without a gap, and how many there are. */
async function requireContiguous(table: string): Promise<number> {
  const parts = (await bounds(table)).map((text) =>
    /FROM \((?:'?)(.*?)'?\) TO \('?(.*?)'?\)$/.exec(text)?.slice(1),
  );
  expect(parts[0]?.[0]).toBe('MINVALUE');
  expect(parts.at(-1)?.[1]).toBe('MAXVALUE');
  for (const [place, part] of parts.slice(1).entries()) expect(part?.[0]).toBe(parts[place]?.[1]);
  return parts.length;
}

function contentOf(of: Database): Promise<unknown> {
  return Promise.all(
    ['balance_change', 'balance_day', 'balance_interval'].map((table) =>
      of.query({ text: `SELECT * FROM staking.${table} ORDER BY 1, 2, 3` }),
    ),
  );
}

/** An index of the same history in one partition. */
async function withUnpartitioned(
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

describe('partitions', () => {
  it('stay one each in an index that is not large', async () => {
    const writer = await Writer.start();
    await writer.write(5);
    expect(await writer.partitions.extend(writer.fence)).toEqual({
      balance_change: 'small',
      balance_day: 'small',
    });
    for (const table of PARTITIONED_TABLES) {
      expect(await bounds(table)).toEqual(['FOR VALUES FROM (MINVALUE) TO (MAXVALUE)']);
    }
  });

  it('are added beside a writer and readers, which notice nothing', async () => {
    const writer = await Writer.start();
    await writer.write(4);
    let isWriting = true;
    const errors: unknown[] = [];
    let reads = 0;
    const readers = [1, 2, 3].map(async (ordinal) => {
      const store = new SnapshotStore(
        await test.open({ url: test.urlAs('api'), readOnly: true, poolSize: 1 }),
      );
      while (isWriting) {
        const read = await store.read([{ wallet: aWallet(ordinal), endDay: 30_000 }]);
        if (read?.daysTexts[0] === undefined) errors.push('no days');
        reads += 1;
      }
    });
    const extending = (async () => {
      const outcomes = new Set<string>();
      while (isWriting) {
        for (const one of Object.values(await writer.partitions.extend(writer.fence))) {
          outcomes.add(one);
        }
      }
      return outcomes;
    })();
    try {
      while ((await bounds('balance_day')).length < 3) await writer.writeOrWait();
    } finally {
      isWriting = false;
      await Promise.allSettled([...readers, extending]);
    }
    await Promise.all(readers);
    expect(await extending).toContain('added');
    expect(errors).toEqual([]);
    expect(reads).toBeGreaterThan(0);
    expect(await requireContiguous('balance_day')).toBeGreaterThanOrEqual(3);
    expect(await requireContiguous('balance_change')).toBeGreaterThan(3);
    await withUnpartitioned(Number(writer.head.number), async (other) => {
      expect(await contentOf(owner)).toEqual(await contentOf(other));
    });
  });

  it.each([...PARTITIONED_TABLES])(
    'of %s are finished by the next program where one was killed after any step',
    async (table) => {
      const writer = await Writer.start();
      while ((await writer.step(table)) === 'none') await writer.write(4);
      // Bounded, and the program is gone. What leads now writes on below the bound.
      const next = new PartitionStore(writer.database);
      const fence = await writer.index.takeLead();
      await expect(next.extend(writer.fence)).rejects.toMatchObject({ code: 'INDEX_FENCED' });
      writer.fence = fence;
      await writer.write(1);
      expect(await writer.step(table)).toBe('validated');
      await writer.write(1);
      expect(await next.extend(fence)).toMatchObject({ [table]: 'added' });
      expect(await requireContiguous(table)).toBe(2);
      await writer.write(1);
    },
  );

  it('are tried later where a transaction keeps the table, and writing goes on', async () => {
    const writer = await Writer.start();
    const reader = await owner.pool.connect();
    try {
      for (const step of ['bounded', 'added']) {
        await reader.query('BEGIN');
        await reader.query('SELECT FROM staking.balance_change LIMIT 1');
        let outcome = 'small';
        while (outcome === 'small') {
          await writer.write(4);
          outcome = (await writer.partitions.extend(writer.fence)).balance_change;
        }
        expect(outcome).toBe('busy');
        await writer.write(1);
        await reader.query('COMMIT');
        if (step === 'bounded') expect(await writer.step('balance_change')).toBe('bounded');
      }
      expect(await writer.partitions.extend(writer.fence)).toMatchObject({
        balance_change: 'added',
      });
    } finally {
      reader.release();
    }
  });

  it('are waited for, not halted for, where the index comes to a bound meanwhile', async () => {
    const writer = await Writer.start();
    while ((await writer.step('balance_change')) === 'none') await writer.write(4);
    const reader = await owner.pool.connect();
    try {
      await reader.query('BEGIN');
      await reader.query('SELECT FROM staking.balance_change LIMIT 1');
      const beyond = async () => {
        for (;;) await writer.write(4);
      };
      await expect(beyond()).rejects.toMatchObject({ code: 'PARTITION_AWAITED', retryable: true });
      expect((await writer.index.state())?.head.number).toBe(writer.head.number);
      expect(await writer.partitions.extend(writer.fence)).toMatchObject({
        balance_change: 'busy',
      });
      await reader.query('COMMIT');
    } finally {
      reader.release();
    }
    expect(await writer.partitions.extend(writer.fence)).toMatchObject({ balance_change: 'added' });
    await writer.write(4);
    expect(await requireContiguous('balance_change')).toBe(2);
  });

  it('are crossed by a rollback, and written again behind it', async () => {
    const writer = await Writer.start();
    await writer.writeUntil(3);
    const head = Number(writer.head.number);
    await writer.rollback(30);
    await withUnpartitioned(30, async (other) => {
      expect(await contentOf(owner)).toEqual(await contentOf(other));
    });
    while (writer.head.number < head) {
      await writer.write(Math.min(4, head - Number(writer.head.number)));
      await writer.partitions.extend(writer.fence);
    }
    await withUnpartitioned(head, async (other) => {
      expect(await contentOf(owner)).toEqual(await contentOf(other));
    });
  });

  it('have the guards, keys and settings of the first, and no rights of their own', async () => {
    await owner.query({ text: 'ALTER TABLE staking.balance_change_1 SET (fillfactor = 90)' });
    const writer = await Writer.start();
    await writer.writeUntil(3);
    const shapes = await owner.query<{ shape: unknown }>({
      text: `SELECT replace(concat_ws(E'\\n', c.reloptions, (c.relowner = p.relowner)::text, (SELECT coalesce(count(*), 0) FROM aclexplode(c.relacl) a WHERE a.grantee <> c.relowner),
          (SELECT string_agg(pg_get_triggerdef(t.oid), E'\\n' ORDER BY tgname) FROM pg_trigger t WHERE tgrelid = c.oid AND NOT tgisinternal),
          (SELECT string_agg(pg_get_constraintdef(k.oid), E'\\n' ORDER BY conname) FROM pg_constraint k WHERE conrelid = c.oid),
          (SELECT string_agg(pg_get_indexdef(indexrelid), E'\\n' ORDER BY 1) FROM pg_index WHERE indrelid = c.oid)), c.relname, 'part') AS shape
        FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid JOIN pg_class p ON p.oid = inhparent
        WHERE p.oid = 'staking.balance_change'::regclass ORDER BY c.oid`,
    });
    expect(shapes.length).toBeGreaterThan(2);
    expect(String(shapes[0]?.shape)).toMatch(/fillfactor=90[^]*refuse_edited_changes[^]*brin/);
    for (const { shape } of shapes) expect(shape).toBe(shapes[0]?.shape);
    for (const statement of [
      'UPDATE staking.balance_change_2 SET balance = 0',
      'DELETE FROM staking.balance_change_1 WHERE block = 1',
      `INSERT INTO staking.balance_change_1 SELECT wallet, -1, seconds, balance FROM staking.balance_change_2 LIMIT 1`,
    ]) {
      await expect(owner.query({ text: statement })).rejects.toMatchObject({ sqlState: /^23/ });
    }
  });

  it('are added by the indexer alone, of these tables alone', async () => {
    const writer = await Writer.start();
    while ((await writer.step('balance_change')) === 'none') await writer.write(4);
    for (const program of PROGRAMS.filter((one) => one !== 'indexer')) {
      const database = await test.open({ url: test.urlAs(program), poolSize: 1 });
      await expect(
        database.query({ text: 'SELECT staking.next_partition($1, $2)' }, [
          'balance_change',
          writer.fence,
        ]),
      ).rejects.toMatchObject({ sqlState: '42501' });
    }
    for (const table of ['index_state', 'balance_change_1', 'x; DROP TABLE staking.block', null]) {
      await expect(
        writer.database.query({ text: 'SELECT staking.next_partition($1, $2)' }, [
          table,
          writer.fence,
        ]),
      ).rejects.toMatchObject({ sqlState: '22023' });
    }
    for (const text of [
      'SELECT FROM staking.balance_change_1',
      'ALTER TABLE staking.balance_change DETACH PARTITION staking.balance_change_1',
      `SELECT staking.copy_triggers('staking.balance_change_1', 'staking.balance_day_1')`,
      `SELECT staking.revoke_rights('staking.balance_change')`,
    ]) {
      await expect(writer.database.query({ text })).rejects.toMatchObject({ sqlState: '42501' });
    }
    expect((await writer.partitions.extend(writer.fence)).balance_change).toBe('added');
  });

  it('are refused where rows are above the indexed head, and writing goes on', async () => {
    const writer = await Writer.start();
    await owner.query({
      text: `ALTER TABLE staking.balance_day_1 DISABLE TRIGGER USER`,
    });
    await owner.query({
      text: `INSERT INTO staking.balance_day VALUES ('\\x${'99'.repeat(20)}', 99999, 0, 1)`,
    });
    let outcome = 'small';
    while (outcome === 'small') {
      await writer.write(4);
      outcome = (await writer.partitions.extend(writer.fence)).balance_day;
    }
    expect(outcome).toBe('refused');
    await writer.write(60);
    expect(await bounds('balance_day')).toHaveLength(1);
    const checks = { text: `SELECT FROM pg_constraint WHERE conname = 'below_next'` };
    expect(await owner.query(checks)).toEqual([]);
  });
});
