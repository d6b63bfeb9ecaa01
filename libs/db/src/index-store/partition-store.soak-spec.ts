/**
 * Partitions of the large tables are added beside writers and readers, survive every killed process, and never
 * block others for long.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { dayOf } from '#libs/domain';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import {
  type Database,
  PARTITIONED_TABLES,
  PartitionStore,
  PROGRAMS,
  SnapshotStore,
} from '../index.js';
import {
  bounds,
  contentOf,
  makePartitionsSmall,
  requireContiguous,
  withUnpartitioned,
  Writer,
} from './partition-bench.support.js';

let test: TestDatabase;
let owner: Database;

beforeEach(async () => {
  test = await createTestDatabase();
  owner = await test.open();
  await makePartitionsSmall(owner);
});
afterEach(() => test.drop());

describe('partitions', () => {
  it('are added beside a writer and readers, which notice nothing', async () => {
    const writer = await Writer.start(test);
    await writer.write(4);
    let isWriting = true as boolean;
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
      while ((await bounds('balance_day', owner)).length < 3) await writer.writeOrWait();
    } finally {
      isWriting = false;
      await Promise.allSettled([...readers, extending]);
    }
    await Promise.all(readers);
    expect(await extending).toContain('added');
    expect(errors).toEqual([]);
    expect(reads).toBeGreaterThan(0);
    expect(await requireContiguous('balance_day', owner)).toBeGreaterThanOrEqual(3);
    expect(await requireContiguous('balance_change', owner)).toBeGreaterThan(3);
    await withUnpartitioned(Number(writer.head.number), async (other) => {
      expect(await contentOf(owner)).toEqual(await contentOf(other));
    });
  });

  it.each([...PARTITIONED_TABLES])(
    'of %s are finished by the next program where one was killed after any step',
    async (table) => {
      const writer = await Writer.start(test);
      while ((await writer.step(table)) === 'none') await writer.write(4);
      // The partition has its bound and the program is gone. The new leader continues to write below the bound.
      const next = new PartitionStore(writer.database);
      const fence = await writer.index.takeLead();
      await expect(next.extend(writer.fence)).rejects.toMatchObject({ code: 'INDEX_FENCED' });
      writer.fence = fence;
      await writer.write(1);
      expect(await writer.step(table)).toBe('validated');
      await writer.write(1);
      expect(await next.extend(fence)).toMatchObject({ [table]: 'added' });
      expect(await requireContiguous(table, owner)).toBe(2);
      await writer.write(1);
    },
  );

  it('are tried later where a transaction keeps the table, and writing goes on', async () => {
    const writer = await Writer.start(test);
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
    const writer = await Writer.start(test);
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
    expect(await requireContiguous('balance_change', owner)).toBe(2);
  });

  it('are crossed by a rollback, and written again behind it', async () => {
    const writer = await Writer.start(test);
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

  it('tell a wallet’s newest state, in whichever of them it changed last', async () => {
    const writer = await Writer.start(test);
    await writer.write(4);
    await writer.writeUntil(2, 30);
    await writer.writeUntil(3, 20);
    await writer.write(4, 10);
    const newest = await owner.query<Record<'wallet' | 'balance' | 'seconds' | 'part', string>>({
      text: `SELECT DISTINCT ON (wallet) '0x' || encode(wallet, 'hex') AS wallet, balance, seconds, tableoid::regclass AS part
        FROM staking.balance_change ORDER BY wallet, block DESC`,
    });
    expect(newest).toHaveLength(40);
    expect(new Set(newest.map(({ part }) => part)).size).toBeGreaterThan(2);
    const today = dayOf(writer.head.timestampSeconds);
    const fromDays = [0, today, today + 1];
    for (const fromDay of fromDays) {
      // In neither the order of the keys nor the order of the changes.
      const wallets = Array.from({ length: 41 }, (_, place) => aWallet(((place * 17) % 41) + 1));
      const states = await writer.index.walletStates(wallets, fromDay);
      const told = [...states].map(([wallet, { balance, sinceSeconds }]) => [
        wallet,
        balance.toString(),
        sinceSeconds,
      ]);
      const expected = newest.map(({ wallet, balance, seconds }) => {
        const day = dayOf(Number(seconds));
        return [wallet, balance, day >= fromDay ? Number(seconds) : (day + 1) * 86_400 - 1];
      });
      expect(told.toSorted()).toEqual(expected.toSorted());
    }
  });

  it('have the guards, keys and settings of the first, and no rights of their own', async () => {
    await owner.query({ text: 'ALTER TABLE staking.balance_change_1 SET (fillfactor = 90)' });
    const writer = await Writer.start(test);
    await writer.writeUntil(3);
    const shapes = await owner.query<{ shape: unknown }>({
      text: `SELECT replace(concat_ws(E'\\n', c.reloptions, (c.relowner = p.relowner)::text, (SELECT coalesce(count(*), 0) FROM aclexplode(c.relacl) a WHERE a.grantee <> c.relowner),
          (SELECT string_agg(pg_get_triggerdef(t.oid), E'\\n' ORDER BY tgname) FROM pg_trigger t WHERE tgrelid = c.oid AND NOT tgisinternal),
          (SELECT string_agg(pg_get_constraintdef(k.oid), E'\\n' ORDER BY conname) FROM pg_constraint k WHERE conrelid = c.oid),
          (SELECT string_agg(pg_get_indexdef(indexrelid), E'\\n' ORDER BY pg_get_indexdef(indexrelid) LIKE '%UNIQUE%') FROM pg_index WHERE indrelid = c.oid)), c.relname, 'part') AS shape
        FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid JOIN pg_class p ON p.oid = inhparent
        WHERE p.oid = 'staking.balance_change'::regclass ORDER BY c.oid`,
    });
    expect(shapes.length).toBeGreaterThan(2);
    expect(String(shapes[0]?.shape)).toMatch(/fillfactor=90[^]*refuse_change[^]*brin/);
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
    const writer = await Writer.start(test);
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
    const writer = await Writer.start(test);
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
    expect(await bounds('balance_day', owner)).toHaveLength(1);
    const checks = { text: `SELECT FROM pg_constraint WHERE conname = 'below_next'` };
    expect(await owner.query(checks)).toEqual([]);
  });
});
