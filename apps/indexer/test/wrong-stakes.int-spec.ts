/**
 * Ways to put wrong stakes into the index, their size, and what finds them: the attacker is the only provider, or holds
 * the indexer's database credential. And the nightly audit beside a running indexer: when it is due is in
 * audit.service.spec.ts, what it compares, and whom it believes, in libs/verification.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseStakeViews } from '#libs/chain';
import { clearFindings, type Database, IndexStore, readFindings, SnapshotStore } from '#libs/db';
import { type Address } from '#libs/domain';
import { stake } from '#libs/testing/chain';
import { eventually } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { AuditBench, NOON_MS } from './audit-bench.js';
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
    // The next change of the wallet is computed from what the indexer wrote.
    await clearFindings(await suite.database.open(), 'all');
    await suite.chain.player.block(START + 240, stake(WRONG, 7n));
    await eventually(async () => (await readFindings(intruder)).length > 0);
    expect(await readFindings(intruder)).toEqual([WRONG]);
  });
});

const MANY = 120;
const TAMPERED = aWallet(0x1010);
const OTHER = aWallet(0x1020);
const STAKED = BigInt((MANY * (MANY + 1)) / 2) * 1000n;

/** An index in which wallet n of 1 to 120 has staked n thousand, in final blocks. */
async function aLargeIndex(): Promise<IndexerUnderTest> {
  const { player } = suite.chain;
  const stakes = Array.from({ length: MANY }, (_, index) =>
    stake(aWallet(0x1000 + index), BigInt(index + 1) * 1000n),
  );
  await player.block(START + 12, ...stakes);
  for (let block = 0; block < 5; block++) await player.block(START + 24 + block * 12);
  const indexer = await suite.start({ finality: 'depth:3' });
  await indexer.level();
  return indexer;
}

describe('the nightly audit', () => {
  it('finds that a good index agrees, keeps it and tells it', async () => {
    const bench = await AuditBench.of(suite, await aLargeIndex());
    expect(await bench.metrics()).toEqual(['lowmark_audit_last_success_timestamp_seconds 0']);
    await bench.service.tick();
    const { finalised } = (await new IndexStore(bench.database).state()) ?? {};
    const at = new Date(NOON_MS);
    expect(await bench.runs.last()).toEqual({
      startedAt: at,
      finishedAt: at,
      result: 'ok',
      blockNumber: finalised?.number,
      blockHash: finalised?.hash,
      wallets: MANY,
      compared: MANY,
      differences: 0,
      different: [],
      indexedTotal: STAKED,
      contractTotal: STAKED,
      sums: { stored: STAKED, closings: STAKED, balances: STAKED },
    });
    expect(bench.errors()).toEqual([]);
    expect(await bench.metrics()).toEqual([
      `lowmark_audit_last_success_timestamp_seconds ${NOON_MS / 1000}`,
      'lowmark_audit_differences 0',
      'lowmark_audit_wallets_compared 120',
      'lowmark_audit_total_tokens{side="index"} 7.26e-12',
      'lowmark_audit_total_tokens{side="contract"} 7.26e-12',
      'lowmark_audit_total_difference_tokens 0',
      'lowmark_audit_sum_difference_tokens{of="closings"} 0',
      'lowmark_audit_sum_difference_tokens{of="changes"} 0',
    ]);
  });

  it('finds a row that was tampered with, and tells both figures', async () => {
    const bench = await AuditBench.of(suite, await aLargeIndex());
    await bench.tamper(TAMPERED, 17_005n);
    await bench.service.tick();
    expect(await bench.runs.last()).toMatchObject({
      result: 'different',
      differences: 1,
      different: [{ wallet: TAMPERED, indexed: 17_005n, contract: 17_000n }],
      indexedTotal: STAKED + 5n,
      contractTotal: STAKED,
    });
    const [own, sum, wallet] = bench.errors();
    expect(own).toMatchObject({
      ...{ stored: Number(STAKED), closings: Number(STAKED), balances: Number(STAKED + 5n) },
      ...{ closingsMore: 0, balancesMore: 5 },
    });
    expect(sum).toMatchObject({
      differences: 1,
      indexedTotal: Number(STAKED + 5n),
      contractTotal: Number(STAKED),
    });
    expect(wallet).toMatchObject({ wallet: TAMPERED, indexed: 17_005, contract: 17_000 });
    const metrics = await bench.metrics();
    expect(metrics).toContain('lowmark_audit_differences 1');
    expect(metrics).toContain('lowmark_audit_total_difference_tokens 5e-18');

    for (let index = 0; index < 25; index++) await bench.tamper(aWallet(0x1000 + index), 1n);
    bench.log.length = 0;
    bench.clock.advance(DAY * 1000);
    await bench.service.tick();
    expect(await bench.runs.last()).toMatchObject({ differences: 25 });
    // The log names no more than twenty wallets.
    expect(bench.errors().filter((line) => line['wallet'] !== undefined)).toHaveLength(20);
  });

  it('does not lose sight of a difference that the next sample may miss', async () => {
    const bench = await AuditBench.of(suite, await aLargeIndex(), { sample: 1 });
    // Both differences cancel each other out in the sum.
    await bench.tamper(TAMPERED, 17_007n);
    await bench.tamper(OTHER, 32_993n);
    const all = await AuditBench.of(suite, suite.indexer ?? (await aLargeIndex()));
    await all.service.tick();
    bench.clock.advance(DAY * 1000);
    await bench.service.tick();
    expect(await bench.runs.last()).toMatchObject({ result: 'different', differences: 2 });
    await bench.tamper(TAMPERED, 17_000n);
    await bench.tamper(OTHER, 33_000n);
    bench.clock.advance(DAY * 1000);
    await bench.service.tick();
    expect(await bench.runs.last()).toMatchObject({ result: 'ok', differences: 0 });
    expect(await bench.count()).toBe(3);
  });

  it('finds that the index does not add up, where no node answers', async () => {
    const indexer = await aLargeIndex();
    const bench = await AuditBench.of(suite, indexer, { urls: ['http://127.0.0.1:9'] });
    await bench.tamperClosing(TAMPERED, 3n);
    await bench.service.tick();
    expect(await bench.runs.last()).toMatchObject({
      ...{ result: 'different', wallets: MANY, compared: undefined, differences: 0 },
      ...{ indexedTotal: STAKED, contractTotal: undefined },
      sums: { stored: STAKED, closings: STAKED + 3n, balances: STAKED },
    });
    expect(bench.errors()).toMatchObject([
      {
        ...{ closingsMore: 3, balancesMore: 0 },
        msg: 'The balances of the index do not add up to its stored total; see docs/operating/alerts.md',
      },
    ]);
    expect(await bench.metrics()).toContain(
      'lowmark_audit_sum_difference_tokens{of="closings"} 3e-18',
    );
    await bench.tamperClosing(TAMPERED, -3n);
    bench.clock.advance(DAY * 1000);
    await bench.service.tick();
    expect(await bench.runs.last()).toMatchObject({ result: 'impossible' });
  });

  it('does not end a difference in wallets by not looking at them', async () => {
    const indexer = await aLargeIndex();
    const bench = await AuditBench.of(suite, indexer);
    await bench.tamper(TAMPERED, 17_007n);
    await bench.tamper(OTHER, 32_993n);
    await bench.service.tick();
    // The contract still reports its total, which agrees.
    const nobody = { function: 'function balanceOfNobody(address) view returns (uint256)' };
    const balanceView = parseStakeViews(nobody, 'balanceView', 'balance');
    const blind = await AuditBench.of(suite, indexer, { balanceView });
    await blind.service.tick();
    const run = await blind.runs.last();
    expect(run).toMatchObject({ result: 'impossible' });
    expect(run).toHaveProperty('reason', expect.stringContaining('could not be looked at again'));
    expect(await blind.metrics()).toContain('lowmark_audit_differences 2');
    const told = await AuditBench.of(suite, indexer, { balanceView: [] });
    await told.service.tick();
    expect(await told.runs.last()).toMatchObject({ result: 'ok', compared: undefined });
  });

  it('is impossible where no node answers, and tells no key', async () => {
    const url = 'http://127.0.0.1:1/?key=hunter2';
    const bench = await AuditBench.of(suite, await aLargeIndex(), { urls: [url] });
    await bench.service.tick();
    const run = await bench.runs.last();
    expect(run).toMatchObject({ result: 'impossible' });
    expect(JSON.stringify(run) + JSON.stringify(bench.log)).not.toContain('hunter2');
  });
});
