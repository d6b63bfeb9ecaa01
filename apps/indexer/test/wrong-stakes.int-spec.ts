/**
 * Ways to put wrong stakes into the index, their size, and what finds them. The attacker is the only provider, or holds
 * the indexer's database credential.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Database, SnapshotStore } from '#libs/db';
import { type Address } from '#libs/domain';
import { stake } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { AuditBench } from './audit-bench.js';
import { type IndexerUnderTest } from './harness.js';
import { largerAmount, moreStaked } from './lies.js';
import { IndexerSuite, START } from './suite.js';

const suite = new IndexerSuite();
const DAY = 86_400;
const LATER_DAY = Math.floor(START / DAY) + 2;
const MORE = 5_000n;
const WALLETS = 5;
const wallet = (index: number): Address => aWallet(0x1000 + index);
const WRONG = wallet(2);
const REFUSED = /^(23|42)/;

let liar: FaultyNode;
beforeEach(async () => {
  liar = await startFaultyNode({ upstream: suite.chain.rpc.url });
});
afterEach(() => liar.close());

/** Wallet n of 0 to 4 stakes a thousand in a final block of its own; the last of these blocks is block 8. */
async function aHistory(): Promise<void> {
  const { player } = suite.chain;
  for (let index = 0; index < WALLETS; index++) {
    await player.block(START + 12 + index * 12, stake(wallet(index), 1_000n));
  }
  for (let block = 0; block < 5; block++) await player.block(START + 120 + block * 12);
}

async function anIndex(urls?: string[]): Promise<IndexerUnderTest> {
  await aHistory();
  const indexer = await suite.start({ finality: 'depth:3', ...(urls && { urls }) });
  await indexer.level();
  return indexer;
}

/** The stake from which the api makes its snapshots. */
async function served(of: Address): Promise<bigint> {
  const api = await suite.database.open({ url: suite.database.urlAs('api') });
  const read = await new SnapshotStore(api).read([{ wallet: of, endDay: LATER_DAY }]);
  const daysText = read?.daysTexts[0] ?? '[]';
  const [newest] = JSON.parse(daysText) as [number, string | null, string][];
  return BigInt(newest?.[2] ?? 0);
}

/** Number of rows of each table outside of the index, with a checksum of their content. */
async function elsewhere(): Promise<unknown> {
  const database = await suite.database.open();
  const tables = await database.query<{ name: string }>({
    text: `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname IN ('partners', 'redemption') ORDER BY 1`,
  });
  expect(tables.length).toBeGreaterThan(10);
  return Promise.all(
    tables.map(async ({ name }) => {
      const text = `SELECT count(*)::int AS rows, md5(string_agg(t::text, '' ORDER BY t::text)) AS sum FROM ${name} t`;
      return { name, ...(await database.query({ text }))[0] };
    }),
  );
}

/** Audits by one endpoint, on a day of its own. */
async function auditedBy(indexer: IndexerUnderTest, url = suite.chain.rpc.url) {
  const bench = await AuditBench.of(suite, indexer, { urls: [url] });
  bench.clock.advance((await bench.count()) * DAY * 1000);
  await bench.service.tick();
  return bench.runs.last();
}

describe('the only provider', () => {
  it('is believed where events, total and balances are invented together: stakes alone are wrong, and another provider finds it', async () => {
    const block = 6;
    const { contracts, rpc } = suite.chain;
    const lies = {
      from: 0,
      more: MORE,
      numbers: new Map<string, number>(),
      contract: contracts.staking,
    };
    const before = await elsewhere();
    await aHistory();
    for (let number = 0; number < block; number++) {
      const { hash } = await rpc.call<{ hash: string }>(
        'eth_getBlockByNumber',
        `0x${number.toString(16)}`,
        false,
      );
      lies.numbers.set(hash, -1);
    }
    liar.fault = [
      largerAmount(block, MORE),
      moreStaked(lies),
      moreStaked({ ...lies, wallet: WRONG }),
    ];
    const indexer = await suite.start({ finality: 'depth:3', urls: [liar.url] });
    await indexer.level();
    const stakes = await Promise.all(Array.from({ length: WALLETS }, (_, n) => served(wallet(n))));
    expect(stakes).toEqual([1_000n, 1_000n, 1_000n + MORE, 1_000n, 1_000n]);
    expect(await elsewhere()).toEqual(before);

    expect(await auditedBy(indexer, liar.url)).toMatchObject({ result: 'ok' });
    expect(await auditedBy(indexer)).toMatchObject({
      result: 'different',
      different: [{ wallet: WRONG, indexed: 1_000n + MORE, contract: 1_000n }],
    });
  });
});

describe('the indexer’s credential', () => {
  let intruder: Database;
  beforeEach(async () => {
    intruder = await suite.database.open({ url: suite.database.urlAs('indexer') });
  });

  const refusalOf = (text: string) =>
    intruder.query({ text }).then(
      () => 'done',
      (error: unknown) => (error as { sqlState?: string }).sqlState,
    );

  it('writes wrong balances only as the indexer does, by going back: the audit finds them', async () => {
    const indexer = await anIndex();
    const before = await elsewhere();
    for (const text of [
      'UPDATE staking.balance_change SET balance = balance + 5000',
      'DELETE FROM staking.balance_change WHERE block = (SELECT min(block) FROM staking.balance_change)',
      `INSERT INTO staking.balance_change SELECT '\\x${'5e'.repeat(20)}', block, seconds, 5000 FROM staking.balance_change LIMIT 1`,
      'ALTER TABLE staking.balance_change DISABLE TRIGGER ALL',
      'SET session_replication_role = replica',
      'UPDATE partners.callback SET usd_per_point = 1000',
      'DELETE FROM redemption.redemption',
    ]) {
      expect(await refusalOf(text)).toMatch(REFUSED);
    }
    await intruder.transaction(async (client) => {
      const { rows: changes } = await client.query<Record<string, unknown>>(
        'DELETE FROM staking.balance_change RETURNING wallet, block, seconds, balance',
      );
      const { rows } = await client.query<{ head_number: string; head_seconds: string }>(
        'SELECT head_number, head_seconds FROM staking.index_state',
      );
      await client.query('UPDATE staking.index_state SET head_number = 0, head_seconds = 0');
      const more = (hex: string) => (hex === WRONG.slice(2) ? Number(MORE) : 0);
      const column = (name: string) => changes.map((change) => change[name]);
      await client.query(
        `INSERT INTO staking.balance_change (wallet, block, seconds, balance)
          SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::numeric[])`,
        [
          column('wallet'),
          column('block'),
          column('seconds'),
          changes.map(({ wallet: of, balance }) =>
            String(Number(balance) + more((of as Buffer).toString('hex'))),
          ),
        ],
      );
      await client.query('UPDATE staking.index_state SET head_number = $1, head_seconds = $2', [
        rows[0]?.head_number,
        rows[0]?.head_seconds,
      ]);
    });
    expect(await auditedBy(indexer)).toMatchObject({
      result: 'different',
      different: [{ wallet: WRONG, indexed: 1_000n + MORE, contract: 1_000n }],
    });
    expect(await elsewhere()).toEqual(before);
  });

  it('writes wrong days, which are served: the audit finds those that do not add up', async () => {
    const indexer = await anIndex();
    const before = await elsewhere();
    const change = (address: Address, by: bigint) =>
      intruder.query(
        { text: 'UPDATE staking.balance_day SET closing = closing + $2 WHERE wallet = $1' },
        [Buffer.from(address.slice(2), 'hex'), by],
      );
    await change(WRONG, 500n);
    expect(await served(WRONG)).toBe(1_500n);
    expect(await served(wallet(1))).toBe(1_000n);
    expect(await auditedBy(indexer)).toMatchObject({ result: 'different', differences: 0 });
    await change(wallet(1), -500n);
    expect(await auditedBy(indexer)).toMatchObject({ result: 'ok' });
    expect(await elsewhere()).toEqual(before);
  });
});
