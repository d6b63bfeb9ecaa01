/**
 * Wrong figures from one end to the other: a sealed and published week, three wallet-days falsified in the database,
 * found, repaired by the operator's command, sealed again, and told to the partner. Needs a build.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type SealedDay } from '#libs/db';
import { dayText, type PartnerId } from '#libs/domain';
import { eventually } from '#libs/testing/clock';
import { addPartner, type Api, startApi } from '../../apps/api/src/testing/api-harness.support.js';
import { AuditBench } from '../../apps/indexer/test/audit-bench.js';
import { DAY, MIDNIGHT } from '../../apps/indexer/test/seal-suite.js';
import { subscribeAgain } from '../../libs/db/src/webhooks/webhook-bench.support.js';
import { InstalledVerify } from '../verify/installed-verify.js';
import { reportOf } from '../verify/verify-suite.js';
import {
  ALICE,
  BOB,
  CAROL,
  dayAt,
  DAYS,
  FIRST_DAY,
  REASON,
  RepairSuite,
  rowsOf,
  sqlOf,
} from './falsified-index.js';

const suite = new RepairSuite();
let verify: InstalledVerify;

beforeAll(async () => {
  verify = await InstalledVerify.install();
});
afterAll(() => {
  verify.remove();
});

/** Lows of a day of Alice and of Carol. No sum shows them. */
const BEFORE_SEALING = [
  `UPDATE staking.balance_day SET low = 1 WHERE wallet = ${sqlOf(ALICE)} AND day = ${dayAt(1)}`,
  `UPDATE staking.balance_day SET low = 5 WHERE wallet = ${sqlOf(CAROL)} AND day = ${dayAt(3)}`,
];
/** The last balance of Bob, and its day. */
const AFTER_SEALING = [
  `UPDATE staking.balance_change SET balance = 7 WHERE wallet = ${sqlOf(BOB)}
    AND block = (SELECT max(block) FROM staking.balance_change WHERE wallet = ${sqlOf(BOB)})`,
  `UPDATE staking.balance_day SET low = 7, closing = 7 WHERE wallet = ${sqlOf(BOB)} AND day = ${dayAt(6)}`,
];

interface Asked {
  readonly api: Api;
  readonly apiKey: string;
}

async function ask(
  { api, apiKey }: Asked,
  path: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const answer = await fetch(`${api.url}${path}`, { headers: { 'x-api-key': apiKey } });
  return { status: answer.status, body: await answer.text() };
}

const snapshotOf = (wallet: string): string =>
  `/api/staking/snapshots?walletAddress=${wallet}&lastDays=${DAYS}&endDay=${dayText(dayAt(6))}`;
const proofOf = (wallet: string, day: number): string =>
  `/api/staking/days/${dayText(day)}/proof?walletAddress=${wallet}`;

describe('a wrong figure', () => {
  it('is found, not served, repaired, revised, and told', async () => {
    await suite.week();
    const indexer = await suite.anIndexer();
    await suite.falsify(...BEFORE_SEALING);
    const bench = await suite.aBench(indexer);
    await bench.service.tick();
    const wrongDay = (await bench.days.byDay(dayAt(1))) as SealedDay;
    const registry = await suite.publishedRegistry(wrongDay, MIDNIGHT + DAYS * DAY + 60);
    await suite.settled(indexer);
    await suite.falsify(...AFTER_SEALING);
    const api = await startApi({}, suite.database);
    api.clock.set((MIDNIGHT + DAYS * DAY + 90) * 1000);
    try {
      const { apiKey } = await addPartner(api, 'game');
      const partner = { api, apiKey };
      const database = await suite.database.open();
      const [game] = await rowsOf<{ id: PartnerId }>(database, 'SELECT id FROM partners.partner');
      const terms = { topics: ['answers.corrected'] } as const;
      await subscribeAgain(database, game?.id as PartnerId, {
        ...terms,
        url: 'https://a.example/',
      });
      for (const wallet of [ALICE, BOB, CAROL]) {
        expect((await ask(partner, snapshotOf(wallet))).status).toBe(200);
      }
      const history = `/api/staking/history?walletAddress=${BOB}`;
      expect((await ask(partner, history)).status).toBe(200);
      expect(JSON.parse((await ask(partner, proofOf(ALICE, dayAt(1)))).body)).toMatchObject({
        low: '1',
      });
      await eventually(async () => {
        const [log] = await rowsOf<{ n: string }>(
          database,
          'SELECT count(*) AS n FROM partners.request',
        );
        return Number(log?.n) === 5;
      });

      // The audit finds the balance that the contract does not confirm.
      const audit = await AuditBench.of(suite, indexer);
      await audit.service.tick();
      expect((await audit.runs.last())?.result).toBe('different');
      for (const path of [snapshotOf(BOB), history, proofOf(ALICE, dayAt(1))]) {
        expect(await ask(partner, path)).toMatchObject({ status: 503 });
      }
      expect((await ask(partner, snapshotOf(ALICE))).status).toBe(200);

      const shown = await suite.repair('--all');
      // A slow machine is told how far the chain is read.
      expect(shown.err.replace(/^Chain read up to block \d+ of \d+…\n/gm, '')).toBe('');
      expect(shown.code).toBe(1);
      expect(shown.out).toMatch(/different +3 wallets, 4 days with another amount/);
      expect(shown.out).toMatch(
        new RegExp(`${ALICE} +${dayText(dayAt(1))} +0\\.0{17}1 +0\\.0{15}97 +0\\.0{14}104 `),
      );
      expect(shown.out).toMatch(
        new RegExp(`${CAROL} +${dayText(dayAt(3))}  +0\\.0{17}5 +0\\.0{14}101 `),
      );
      expect(shown.out).toMatch(new RegExp(`${BOB} +\\d+ +0\\.0{17}7 +0\\.0{14}114\n`));
      expect((await suite.tables()).days).not.toEqual([]);

      const refused = await suite.repair('--all', '--apply');
      expect(refused.err).toContain('--apply needs --reason');
      const done = await suite.repair('--all', '--apply', '--reason', REASON, '--yes');
      expect(done.err).not.toContain('[');
      expect(done).toMatchObject({ code: 0 });
      expect(done.out).toMatch(/Repaired 3 wallets/);
      // Until the days are sealed again, they are not served.
      expect((await ask(partner, proofOf(ALICE, dayAt(1)))).status).toBe(503);
      // The indexer notices with the next block that it does not lead any more.
      await suite.chain.player.block(MIDNIGHT + DAYS * DAY + 120);
      await suite.settled(indexer);
      await suite.expectIndexed();
      await bench.service.tick();
      const sealed = await suite.expectSealed(bench);
      expect(sealed.filter(({ revision }) => revision === 2).map(({ day }) => day)).toEqual([
        ...[dayAt(1), dayAt(3)],
      ]);
      const proof = await ask(partner, proofOf(ALICE, dayAt(1)));
      expect(JSON.parse(proof.body)).toMatchObject({
        ...{ low: '970', day: { revision: 2, previousRoot: wrongDay.root } },
      });
      await expectVerified({ sealed, wrongDay, registry, partner });
      await expectTold(database);
      // A repair that ended before it told the partners is completed by the next one.
      await suite.falsify(
        'DELETE FROM partners.corrected_answer',
        'DELETE FROM webhooks.event',
        'UPDATE partners.correction SET told_at = NULL',
      );
      const again = await suite.repair('--apply', '--reason', REASON, '--yes');
      expect(again).toMatchObject({ code: 0 });
      expect(again.out).toContain('The index agrees with the chain.');
      await expectTold(database);
    } finally {
      await api.stop();
    }
  });
});

async function expectVerified({
  sealed,
  wrongDay,
  registry,
  partner: { api, apiKey },
}: {
  readonly sealed: readonly SealedDay[];
  readonly wrongDay: SealedDay;
  readonly registry: string;
  readonly partner: Asked;
}): Promise<void> {
  const day = sealed.find((one) => one.day === wrongDay.day) as SealedDay;
  const args = [...suite.chainArgs(day), '--api', api.url, '--registry', registry, '--json'];
  const report = reportOf(await verify.run(args, { LOWMARK_API_KEY: apiKey }));
  expect(report.days[0]?.comparisons).toMatchObject([
    { with: 'api', result: 'agrees', root: day.root, revision: 2, previousRoot: wrongDay.root },
    { with: 'registry', result: 'differs', root: wrongDay.root },
  ]);
}

async function expectTold(database: Parameters<typeof rowsOf>[0]): Promise<void> {
  const answers = await rowsOf<{ path: string; is_certain: boolean; figures: object[] }>(
    database,
    'SELECT path, is_certain, figures FROM partners.corrected_answer ORDER BY request',
  );
  const tokens = (amount: number): number => Number(`${amount}e-18`);
  const day = (place: number): string => dayText(FIRST_DAY + place);
  expect(answers.map(({ path, is_certain: isCertain }) => [path, isCertain])).toEqual([
    [snapshotOf(ALICE), true],
    [snapshotOf(BOB), true],
    [snapshotOf(CAROL), true],
    [`/api/staking/history?walletAddress=${BOB}`, true],
    [proofOf(ALICE, dayAt(1)), true],
    [snapshotOf(ALICE), true],
  ]);
  const average = { walletAddress: ALICE, field: 'averageStakedAmount', day: day(6) };
  expect(answers[0]?.figures).toEqual([
    expect.objectContaining(average),
    {
      ...{ walletAddress: ALICE, field: 'snapshotAmount', day: day(1) },
      ...{ signed: tokens(1), correct: tokens(970) },
    },
  ]);
  expect(answers[3]?.figures).toMatchObject([
    { walletAddress: BOB, field: 'stakedAmount', signed: tokens(7), correct: tokens(1140) },
  ]);
  expect(answers[4]?.figures).toEqual([
    { walletAddress: ALICE, field: 'low', day: day(1), signed: '1', correct: '970' },
  ]);
  const [event, ...more] = await rowsOf<{ payload: string }>(
    database,
    `SELECT payload FROM webhooks.event WHERE type = 'answers.corrected'`,
  );
  expect(more).toEqual([]);
  expect(JSON.parse(event?.payload ?? '')).toMatchObject({
    type: 'answers.corrected',
    data: { stakeSet: 'default', reason: REASON, count: 6, answers: { length: 6 } },
  });
}
