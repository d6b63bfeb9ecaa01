/**
 * The nightly audit beside a running indexer: a real index, a real contract. When it is due: audit.service.spec.ts. What it
 * compares, and whom it believes: libs/verification.
 */
import { describe, expect, it } from '@jest/globals';
import { parseStakeViews } from '#libs/chain';
import { IndexStore } from '#libs/db';
import { stake } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { AuditBench, NOON_MS } from './audit-bench.js';
import { type IndexerUnderTest } from './harness.js';
import { IndexerSuite, START } from './suite.js';

const suite = new IndexerSuite();
const DAY_MS = 86_400_000;
const WALLETS = 120;
const WRONG = aWallet(0x1010);
const OTHER = aWallet(0x1020);
const FINALITY = 'depth:3';
const STAKED = BigInt((WALLETS * (WALLETS + 1)) / 2) * 1000n;

/** An index in which wallet n of 1 to 120 has staked n thousand, in final blocks. */
async function anIndex(): Promise<IndexerUnderTest> {
  const { player } = suite.chain;
  const stakes = Array.from({ length: WALLETS }, (_, index) =>
    stake(aWallet(0x1000 + index), BigInt(index + 1) * 1000n),
  );
  await player.block(START + 12, ...stakes);
  for (let block = 0; block < 5; block++) await player.block(START + 24 + block * 12);
  const indexer = await suite.start({ finality: FINALITY });
  await indexer.level();
  return indexer;
}

describe('the nightly audit', () => {
  it('finds that a good index agrees, keeps it and tells it', async () => {
    const bench = await AuditBench.of(suite, await anIndex());
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
      wallets: WALLETS,
      compared: WALLETS,
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
    const bench = await AuditBench.of(suite, await anIndex());
    await bench.tamper(WRONG, 17_005n);
    await bench.service.tick();
    expect(await bench.runs.last()).toMatchObject({
      result: 'different',
      differences: 1,
      different: [{ wallet: WRONG, indexed: 17_005n, contract: 17_000n }],
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
    expect(wallet).toMatchObject({ wallet: WRONG, indexed: 17_005, contract: 17_000 });
    const metrics = await bench.metrics();
    expect(metrics).toContain('lowmark_audit_differences 1');
    expect(metrics).toContain('lowmark_audit_total_difference_tokens 5e-18');

    for (let index = 0; index < 25; index++) await bench.tamper(aWallet(0x1000 + index), 1n);
    bench.log.length = 0;
    bench.clock.advance(DAY_MS);
    await bench.service.tick();
    expect(await bench.runs.last()).toMatchObject({ differences: 25 });
    // The log names no more than twenty wallets.
    expect(bench.errors().filter((line) => line['wallet'] !== undefined)).toHaveLength(20);
  });

  it('does not lose sight of a difference that the next sample may miss', async () => {
    const bench = await AuditBench.of(suite, await anIndex(), { sample: 1 });
    // Both differences cancel each other out in the sum.
    await bench.tamper(WRONG, 17_007n);
    await bench.tamper(OTHER, 32_993n);
    const all = await AuditBench.of(suite, suite.indexer ?? (await anIndex()));
    await all.service.tick();
    bench.clock.advance(DAY_MS);
    await bench.service.tick();
    expect(await bench.runs.last()).toMatchObject({ result: 'different', differences: 2 });
    await bench.tamper(WRONG, 17_000n);
    await bench.tamper(OTHER, 33_000n);
    bench.clock.advance(DAY_MS);
    await bench.service.tick();
    expect(await bench.runs.last()).toMatchObject({ result: 'ok', differences: 0 });
    expect(await bench.count()).toBe(3);
  });

  it('ends when the lead is lost, and keeps nothing', async () => {
    const indexer = await anIndex();
    const bench = await AuditBench.of(suite, indexer, {
      hook: async () => {
        await bench.database.query({
          text: `SELECT pg_terminate_backend(pid) FROM pg_locks
            WHERE locktype = 'advisory' AND classid = 4215 AND objid = 2`,
        });
        return new Promise(() => undefined);
      },
    });
    await bench.service.tick();
    expect(await bench.count()).toBe(0);
    expect(bench.log.map(({ msg }) => msg)).toContain(
      'Stopped the audit of the index; the next one begins again',
    );
    await indexer.until('leading again', ({ lead }) => lead !== undefined);
    const later = await AuditBench.of(suite, indexer);
    await later.service.tick();
    expect(await later.runs.last()).toMatchObject({ result: 'ok' });
  });

  it('finds that the index does not add up, where no node answers', async () => {
    const indexer = await anIndex();
    const bench = await AuditBench.of(suite, indexer, { urls: ['http://127.0.0.1:9'] });
    await bench.tamperClosing(WRONG, 3n);
    await bench.service.tick();
    expect(await bench.runs.last()).toMatchObject({
      ...{ result: 'different', wallets: WALLETS, compared: undefined, differences: 0 },
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
    await bench.tamperClosing(WRONG, -3n);
    bench.clock.advance(DAY_MS);
    await bench.service.tick();
    expect(await bench.runs.last()).toMatchObject({ result: 'impossible' });
  });

  it('does not end a difference in wallets by not looking at them', async () => {
    const indexer = await anIndex();
    const bench = await AuditBench.of(suite, indexer);
    await bench.tamper(WRONG, 17_007n);
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
    const bench = await AuditBench.of(suite, await anIndex(), { urls: [url] });
    await bench.service.tick();
    const run = await bench.runs.last();
    expect(run).toMatchObject({ result: 'impossible' });
    expect(JSON.stringify(run) + JSON.stringify(bench.log)).not.toContain('hunter2');
  });
});
