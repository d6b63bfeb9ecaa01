/**
 * The redemption service as a whole against partners that misbehave in every way of the fault table, on a chain that reorganises,
 * with workers killed by SIGKILL, one of two endpoints and the price lying, and an intruder with the database credentials of the services.
 * SIMULATION_SEED and SIMULATION_RUNS choose others; `npm run simulate` does many.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { FAULTS } from './partner/wire-faults.js';
import { simulate } from './simulate.js';
import { toldVerdict } from './told-verdict.js';
import { type Verdict } from './verdict.js';

const SEED = Number(process.env['SIMULATION_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const RUNS = Number(process.env['SIMULATION_RUNS'] ?? 300);
const LIMIT_MS = 600_000;
/** Happen at one step only and to few: these depend on what the partner's books hold at that moment. */
const RARE = [
  'refuses-to-deduct',
  'duplicate-of-nothing',
  'reused-transaction-id',
  'reused-revert-id',
  'not-found-for-now',
  'amount-disputed',
];

/** Each the mark of another way through the rules. */
const REASONS = [
  'deduction-unknown',
  'deduction-unresolved',
  'never-deducted',
  'insufficient-points',
  'claim-timeout',
  'user-cancelled',
  'not-deducted-out-of-band',
  'restored-out-of-band',
];

describe(`${RUNS} runs with seed ${SEED}`, () => {
  let database: TestDatabase;
  let verdict: Verdict;

  beforeAll(async () => {
    console.log(`SIMULATION_SEED=${SEED}`);
    database = await createTestDatabase();
    const urlAs = database.urlAs.bind(database);
    verdict = await simulate({ seed: SEED, runs: RUNS, databaseUrl: database.url, urlAs });
  }, LIMIT_MS);

  afterAll(async () => {
    await database.drop();
  });

  it('keep I1 to I11, and leave partner, chain and database in agreement to the last point and token', () => {
    if (verdict.faults.length > 0) throw new Error(toldVerdict(verdict));
    expect(verdict.counts['runs']).toBe(RUNS);
  });

  it('came through every fault of the table and to every end, with kills and reorganisations', () => {
    const names = [...FAULTS.deduct, ...FAULTS.revert].filter((name) => !RARE.includes(name));
    if (RUNS < 300) return;
    expect(Object.keys(verdict.partnerFaults)).toEqual(expect.arrayContaining(names));
    expect(Object.keys(verdict.ends).sort()).toEqual(['claimed', 'failed', 'reverted']);
    expect(Object.keys(verdict.reasons)).toEqual(expect.arrayContaining(REASONS));
    expect(verdict.counts['kills']).toBeGreaterThan(4);
    expect(verdict.counts['reorganisations']).toBeGreaterThan(9);
  });

  it('lost nothing to the lying endpoint and the intruder, and to the lying price less than the settings allow', () => {
    const { losses, intrusions, lies, prices } = verdict;
    expect(losses['withoutPoints']).toBe(0);
    expect(losses['byPrice']).toBeLessThanOrEqual(losses['priceBound'] ?? 0);
    if (RUNS < 300) return;
    // They were there.
    expect(Object.values(lies).filter((count) => count > 0).length).toBeGreaterThan(4);
    expect(Object.keys(intrusions).filter((name) => name.startsWith('api')).length).toBeGreaterThan(
      9,
    );
    expect(intrusions['forged rows']).toBeGreaterThan(2);
    expect(Object.keys(prices).some((name) => name.startsWith('held'))).toBe(true);
  });

  it('final rows can be changed by nobody (I10), nor can two have one transaction id (I11)', async () => {
    const open = await database.open();
    const refused = (text: string): Promise<unknown> =>
      open.query({ text }).then(
        () => 'done',
        (error: unknown) => (error as { sqlState?: string }).sqlState,
      );
    for (const state of ['claimed', 'reverted', 'failed']) {
      const change = `version = version + 1, reason = 'other'`;
      const update = `UPDATE redemption.redemption SET ${change} WHERE state = '${state}'`;
      expect(await refused(update)).toBe('23000');
    }
    expect(await refused('DELETE FROM redemption.redemption')).toBe('23000');
    expect(await refused('DELETE FROM redemption.transition')).toBe('23000');
    const [index] = await open.query<{ unique: boolean }>({
      text: `SELECT indisunique AS unique FROM pg_index WHERE indexrelid = 'redemption.redemption_transaction_id'::regclass`,
    });
    expect(index?.unique).toBe(true);
  });
});
